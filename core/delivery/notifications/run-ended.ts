import { RUN_WARNINGS, type RunWarning } from '#core/authoring/outcomes/index.ts';
import { enqueuePing } from '#core/foundation/outbox/index.ts';
import type { PassedLimit } from '#core/usage/index.ts';
import type { Db } from '#lib/database/index.ts';
import { findCrossings, routineBudgetNews, tellOfSharedBudgets } from './budgets.ts';
import { messageSubjectOf, readSubscriptions, type Subscription } from './subscription.ts';
import { tell, type News } from './tell.ts';

/** A run that has ended. */
interface EndedRun {
  readonly id: string;
  readonly state: 'succeeded' | 'failed' | 'cancelled';
  readonly reason: string | null;
  /** Outcome of a run that succeeded; null for all others. */
  readonly outcome: string | null;
  /** What a run that succeeded lacked. */
  readonly warnings: readonly RunWarning[];
  /** The reason as a sentence of the closed list, without words of a model, a tool or a provider. */
  readonly reasonInWords: string | null;
  /** Why the service paused the routine because of this run; null when it did not. */
  readonly pausedBecause: string | null;
  /** The budget that left too little for the next step; undefined when none did, or when it is unknown which. */
  readonly passedLimit?: PassedLimit | undefined;
}

/**
 * Queues the mails about an ended run and the ping of a monitor, in the transaction that ends the run. That transaction
 * holds the routine's row.
 */
export async function notifyRunEnded(tx: Db, run: EndedRun, subscription: Subscription): Promise<void> {
  const { successPingUrl: url } = subscription;
  const isWhole = run.state === 'succeeded' && run.warnings.length === 0;
  if (isWhole && url !== null) {
    await enqueuePing(tx, { ...messageSubjectOf(subscription, run.id), url });
  }
  // Before the state of the routine, as when a step is settled: locks are taken in one order everywhere.
  const crossings = await findCrossings(tx, subscription, usedUpBy(run));
  if (subscription.mail !== null) {
    const news = [
      ...(run.state === 'failed' ? [await failed(tx, run, subscription)] : []),
      ...(run.pausedBecause === null ? [] : [paused(run.pausedBecause)]),
      ...(run.outcome === 'partial' ? [partial(run.warnings)] : []),
      ...(isWhole ? await recovered(tx, subscription) : []),
      ...routineBudgetNews(crossings),
    ];
    await tell(tx, subscription, { runId: run.id, news });
  }
  await tellOfSharedBudgets(tx, subscription, { runId: run.id, crossings });
}

/** Returns the budget that counts as used up because a step no longer fitted into it. */
function usedUpBy({ reason, passedLimit }: EndedRun): PassedLimit | 'unknown' | undefined {
  return passedLimit ?? (reason === 'budget_exceeded' ? 'unknown' : undefined);
}

function partial(warnings: EndedRun['warnings']): News {
  const lines = warnings.map((warning) => `A run ended without its tools: ${RUN_WARNINGS[warning]}.`);
  const said = 'A run succeeded, and says that it could do only a part of its work.';
  return { event: 'partial', heading: 'Partly done', lines: lines.length === 0 ? [said] : lines };
}

/** Writes the news that the service has paused a routine, with the reason that the routine shows. */
function paused(because: string): News {
  const why = because === 'completed' ? 'its last run said that the work is done' : because;
  const lines = [`The service has taken it off its schedule: ${why}.`];
  return { event: 'paused', heading: 'Paused', lines };
}

async function failed(tx: Db, { reason, reasonInWords }: EndedRun, { routineId }: Subscription): Promise<News> {
  await tx.run`
    insert into notification_states as s (routine_id, failing) values (${routineId}, true)
    on conflict (routine_id) do update set failing = true where not s.failing
  `;
  const why = reason === null ? '' : `: ${reason}, ${reasonInWords ?? ''}`;
  return { event: 'failed', heading: 'Failed', lines: [`A run failed${why}.`] };
}

/** Writes the news of the first success after failures that were mailed, or would have been. */
async function recovered(tx: Db, { routineId }: Subscription): Promise<News[]> {
  const was = await tx.row`
    update notification_states set failing = false where routine_id = ${routineId} and failing returning 1
  `;
  if (was === undefined) return [];
  return [{ event: 'recovered', heading: 'Works again', lines: ['A run succeeded after failures.'] }];
}

/**
 * Tells the subscribers of routines that the service has paused, in the transaction that pauses them.
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
