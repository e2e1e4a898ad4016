import { isUnavailable, type Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { Kinds, WorkOutcome, RecordKind, RequestKind, WorkItem } from './kinds.ts';
import { claimWork, failWork, finishWork, postponeWork } from './queue.ts';

interface WorkDeps {
  readonly database: Database;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Longest time of one round of work on a kind. The next tick continues. */
const ROUND_MS = 10_000;

/**
 * Does the due work of one kind, for at most `forMs`; the next tick continues. Does nothing if this process cannot do
 * the kind.
 * @returns the number of attempts
 * @throws when Postgres cannot be reached, or the signal's reason
 */
export async function workOff(
  deps: WorkDeps,
  kinds: Kinds,
  name: string,
  { signal, forMs = ROUND_MS }: { readonly signal?: AbortSignal; readonly forMs?: number } = {},
): Promise<number> {
  const kind = kinds[name];
  if (kind === undefined) return 0;
  const end = performance.now() + forMs;
  let total = 0;
  for (;;) {
    signal?.throwIfAborted();
    const claimed = await claimWork(deps.database, name, kind.batch);
    const tried = await Promise.allSettled(claimed.map((item) => tryOne(deps, { name, kind, item }, signal)));
    total += claimed.length;
    let goOn = claimed.length === kind.batch;
    for (const each of tried) {
      if (each.status === 'rejected') throw each.reason;
      goOn &&= each.value;
    }
    if (!goOn || performance.now() > end) return total;
  }
}

interface Trial {
  readonly name: string;
  readonly kind: RecordKind | RequestKind;
  readonly item: WorkItem;
}

const BROKEN_OFF = 'the service broke off all attempts';

/** @returns true when other rows may be tried */
async function tryOne(deps: WorkDeps, trial: Trial, signal: AbortSignal | undefined): Promise<boolean> {
  const { kind, item } = trial;
  const delayMs = kind.waitsMs[item.attempt - 1];
  // No wait is left: the last attempt was broken off with its process.
  const isBeyondLast = item.attempt > kind.waitsMs.length + 1;
  const outcome = isBeyondLast ? { state: 'failed' as const, error: BROKEN_OFF } : await attempt(deps, trial, signal);
  // An attempt that this process broke off has no outcome. The row is due again when its lease runs out.
  if (outcome === undefined) return false;
  const isGivenUp = outcome.state === 'retry' && delayMs === undefined;
  await settle(deps, trial, isGivenUp ? { state: 'failed', error: outcome.error } : outcome, delayMs);
  return !(outcome.state === 'retry' && outcome.isAway === true);
}

/** Makes an attempt. The log gets the whole error, the row only its name. */
async function attempt(
  { database, log }: WorkDeps,
  { name, kind, item }: Trial,
  signal: AbortSignal | undefined,
): Promise<WorkOutcome | undefined> {
  try {
    if ('record' in kind) {
      await finishWork(database, name, item, (tx) => kind.record(tx, item));
      return { state: 'done' };
    }
    const outcome = await kind.attempt(item, signal);
    return signal?.aborted === true && outcome.state === 'retry' ? undefined : outcome;
  } catch (err) {
    if (signal?.aborted === true) return undefined;
    if (isUnavailable(err)) throw err;
    log.error({ err, kind: name, key: item.key, attempt: item.attempt }, 'an attempt at due work failed');
    return { state: 'retry', error: `${err instanceof Error ? err.name : 'Error'}: see the log` };
  }
}

async function settle(
  { database, log, metrics }: WorkDeps,
  { name, kind, item }: Trial,
  outcome: WorkOutcome,
  delayMs = 0,
): Promise<void> {
  if ('channel' in kind && kind.channel !== undefined) {
    metrics.messageAttempt({ channel: kind.channel, outcome: outcome.state === 'done' ? 'sent' : outcome.state });
  }
  const entry = { kind: name, key: item.key, attempt: item.attempt, outcome: outcome.state };
  if (outcome.state === 'failed') log.error({ ...entry, reason: outcome.error }, 'due work was given up');
  else log.info(entry, 'work attempt');
  if (outcome.state === 'retry')
    await postponeWork(database, name, item, { error: outcome.error, delayMs: outcome.delayMs ?? delayMs });
  else if ('ended' in kind) await finishWork(database, name, item, (tx) => kind.ended(tx, item, outcome));
  else if (outcome.state === 'failed') await failWork(database, name, item, outcome.error);
}
