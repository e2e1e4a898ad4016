import { randomBytes } from 'node:crypto';
import { webhooks, type Ras, type Shape } from 'routine-automation-sdk';
import type { Context } from '../context.ts';
import { reason, usageError } from '../failure.ts';
import { withRoutine } from '../find.ts';

type Run = Shape<'RunSummary'>;

const POLL_MS = 2_000;
const TIMEOUT_MS = 20_000;
const PAGE = 100;

/**
 * Forwards webhook events of all runs that end from now on, signed with a secret of this call, until Ctrl-C. Leaves out
 * events that the routine's webhook would not get.
 */
export async function listen(
  context: Context,
  { forwardTo, routine }: { readonly forwardTo: string; readonly routine?: string },
): Promise<void> {
  const { protocol } = URL.parse(forwardTo) ?? {};
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw usageError(`"${forwardTo}" is not the address of a receiver.`);
  }
  const ras = await context.client();
  const routineId =
    routine === undefined ? undefined : (await withRoutine(context, routine, (r, id) => r.routines.read(id))).id;
  const secret = context.env['RAS_WEBHOOK_SECRET'] || `whsec_${randomBytes(32).toString('base64')}`;
  checkSecret(secret);
  const ended = new Set((await newest(ras, routineId)).filter(hasEnded).map(({ id }) => id));
  const open = new Set<string>();
  context.say(`Forwarding to ${forwardTo}. Ctrl-C ends it.`);
  context.say(`Signing secret: ${secret}`);
  const signal = context.interrupted();
  for (;;) {
    await context.pause(POLL_MS, signal);
    const page = await newest(ras, routineId);
    for (const { id } of page.filter((run) => !hasEnded(run))) open.add(id);
    const listed = new Set(page.map(({ id }) => id));
    // Read older open runs too: a run that waited long is not among the newest when it ends.
    const older = await Promise.all([...open].filter((id) => !listed.has(id)).map((id) => ras.runs.read(id)));
    for (const run of [...older, ...page.toReversed()]) {
      if (!hasEnded(run) || ended.has(run.id)) continue;
      ended.add(run.id);
      open.delete(run.id);
      if (run.state !== 'skipped' && !WITHHELD.has(run.withheld))
        await forward(context, { ras, run, forwardTo, secret });
    }
  }
}

/** @throws {CliError} for a secret that cannot sign */
function checkSecret(secret: string): void {
  try {
    webhooks.signForTest('{}', secret);
  } catch {
    throw usageError('RAS_WEBHOOK_SECRET is no signing secret: `whsec_` and base64.', 'Unset it to get a new one.');
  }
}

/** Reasons for which a webhook gets no event. */
const WITHHELD: ReadonlySet<Run['withheld']> = new Set(['no_change', 'not_failed'] as const);

function newest(ras: Ras, routineId: string | undefined): Promise<Run[]> {
  const runs = routineId === undefined ? ras.runs.list({ limit: PAGE }) : ras.routines.runs(routineId, { limit: PAGE });
  return runs.toArray({ limit: PAGE });
}

function hasEnded({ finishedAt }: Pick<Run, 'finishedAt'>): boolean {
  return finishedAt !== null;
}

async function forward(
  context: Context,
  to: { readonly ras: Ras; readonly run: Pick<Run, 'id'>; readonly forwardTo: string; readonly secret: string },
): Promise<void> {
  const { ras, run, forwardTo, secret } = to;
  const event = await ras.runs.event(run.id);
  const { body, headers } = webhooks.signForTest(event, secret, {
    id: `whd_listen_${run.id}`,
    at: new Date(context.now()),
  });
  const began = context.now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const said = await context
    .fetch(forwardTo, { method: 'POST', body, headers: { ...headers }, redirect: 'manual', signal })
    .then(
      ({ status }) => String(status),
      (error: unknown) => reason(error),
    );
  const line = { event: event.type, runId: run.id, response: said, durationMs: context.now() - began };
  if (context.isForPeople) context.out.text(`${event.type}  ${run.id}  ${said}  ${line.durationMs} ms`);
  else context.out.jsonLine(line);
}
