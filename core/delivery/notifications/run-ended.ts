import { RUN_WARNINGS } from '#core/authoring/outcomes/index.ts';
import { enqueuePing } from '#core/foundation/outbox/index.ts';
import { addWork, RECORD_PACE, type RecordKind } from '#core/foundation/work/index.ts';
import { AT_ONCE, sql, type Db } from '#lib/database/index.ts';
import { findCrossings, routineBudgetNews, tellOfSharedBudgets } from './budgets.ts';
import { endedRun, type ToldRun } from './notes.ts';
import { messageSubjectOf, readSubscriptions, type MailSubscription } from './subscription.ts';
import { tell, type News } from './tell.ts';

export const runEndedKind: RecordKind = {
  ...RECORD_PACE,
  async record(tx, { key: runId, payload }) {
    const run = endedRun.parse(payload);
    const [subscription] = await readSubscriptions(tx, [run.routineId]);
    if (subscription !== undefined) await notifyRunEnded(tx, runId, run, subscription);
  },
};

async function notifyRunEnded(tx: Db, runId: string, run: ToldRun, subscription: MailSubscription): Promise<void> {
  const { successPingUrl: url } = subscription;
  const isWhole = run.state === 'succeeded' && run.warnings.length === 0;
  if (isWhole && !run.answers && url !== null) await enqueuePing(tx, { ...messageSubjectOf(subscription, runId), url });
  // Lock budgets before the state of the routine, as for spending, so that two transactions cannot deadlock.
  const usedUp = run.passedLimit ?? (run.reason === 'budget_exceeded' ? 'unknown' : undefined);
  const crossings = await findCrossings(tx, subscription, usedUp);
  const news = [...(run.answers ? [] : newsOf(run)), ...routineBudgetNews(crossings)];
  if (!run.answers && subscription.hasReaders && run.state !== 'cancelled') {
    await tx.run`${addWork(sql`select 'result', ${runId}, ${subscription.organizationId}, ${AT_ONCE}, '{}'::jsonb`)}`;
  }
  await tell(tx, subscription, { runId, news });
  await tellOfSharedBudgets(tx, subscription, { runId, crossings });
}

function newsOf(run: ToldRun): News[] {
  return [
    ...(run.state === 'failed' ? [failed(run)] : []),
    ...(run.pausedBecause === null ? [] : [paused(run.pausedBecause)]),
    ...(run.outcome === 'partial' ? [partial(run.warnings)] : []),
    ...(run.recovered ? [RECOVERED] : []),
  ];
}

function partial(warnings: ToldRun['warnings']): News {
  const lines = warnings.map((warning) => `A run ended without its tools: ${RUN_WARNINGS[warning]}.`);
  const said = 'A run succeeded, and says that it could do only a part of its work.';
  return { event: 'partial', heading: 'Partly done', lines: lines.length === 0 ? [said] : lines };
}

function paused(because: string): News {
  const why = because === 'completed' ? 'its last run said that the work is done' : because;
  const lines = [`The service has taken the routine off its schedule: ${why}.`];
  return { event: 'paused', heading: 'Paused', lines };
}

function failed({ reason, reasonInWords }: ToldRun): News {
  const why = reason === null ? '' : reasonInWords === null ? `: ${reason}` : `: ${reasonInWords} (${reason})`;
  return { event: 'failed', heading: 'Failed', lines: [`A run failed${why}.`] };
}

const RECOVERED: News = { event: 'recovered', heading: 'Works again', lines: ['A run succeeded after failures.'] };

/** Mails the subscribers of a routine about the question of a run. The mail has a link, and not the text of a model. */
export async function notifyAsked(
  tx: Db,
  { routineId, runId }: { readonly routineId: string; readonly runId: string },
): Promise<void> {
  for (const subscription of await readSubscriptions(tx, [routineId])) {
    await tell(tx, subscription, { runId, news: [ASKED] });
  }
}

const ASKED: News = {
  event: 'question',
  heading: 'A question',
  lines: [
    'A run asks a question. The run goes on without the answer. You can answer on the page of the run; the next run gets the answer.',
  ],
};

/**
 * Mails the subscribers of routines about their pause by the service, in the transaction of the pause.
 * @param runIds the run that led to each pause, by routine
 */
export async function notifyPaused(
  tx: Db,
  routines: readonly { readonly id: string; readonly stateReason: string }[],
  runIds: ReadonlyMap<string, string | null> = new Map(),
): Promise<void> {
  if (routines.length === 0) return;
  const byId = new Map(routines.map((routine) => [routine.id, routine]));
  for (const subscription of await readSubscriptions(tx, [...byId.keys()])) {
    const routine = byId.get(subscription.routineId);
    if (routine === undefined) continue;
    const runId = runIds.get(routine.id) ?? null;
    await tell(tx, subscription, { runId, news: [paused(routine.stateReason)] });
  }
}

/**
 * Mails the subscribers of a routine about the waiting calls of a run, with a link to the page for deciding about them.
 */
export async function tellOfHeldCalls(
  tx: Db,
  { routineId, runId, open }: { readonly routineId: string; readonly runId: string; readonly open: number },
): Promise<void> {
  const [subscription] = await readSubscriptions(tx, [routineId]);
  const calls = open === 1 ? 'A call of a tool waits' : `${open} calls of tools wait`;
  const held: News = {
    event: 'held',
    heading: 'Waits for you',
    lines: [`${calls} until a person approves or rejects it.`],
  };
  if (subscription !== undefined) await tell(tx, subscription, { runId, news: [held] });
}
