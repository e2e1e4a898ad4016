import type { Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { SLOTS } from '#lib/provider-file/index.ts';
import type { Engine } from '#core/engine/index.ts';
import type { Admission } from './admission/admission.ts';
import { enqueueManualRun, enqueueRetry, type EnqueuedRun, type ManualRun } from './enqueue.ts';
import type { Run } from './run.ts';

export interface StartDeps {
  readonly database: Db;
  readonly engine: Pick<Engine, 'startRun'>;
  readonly admission: Admission;
  readonly log: Log;
  readonly providerEnabled: (provider: string) => boolean;
}

/**
 * Puts a manual run on record and starts its workflow.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `invalid_variable`, `invalid_request`, `limit_reached`,
 * `allowance_exceeded`, `provider_disabled`
 */
export async function startManualRun(
  deps: StartDeps,
  input: Omit<ManualRun, 'retryOf' | 'standsFor' | 'disabledProviders'>,
): Promise<Run> {
  const manual = { ...input, retryOf: null, standsFor: null, disabledProviders: disabled(deps) };
  return start(deps, await enqueueManualRun(deps.database, deps.admission.rule, manual));
}

/**
 * Starts a new manual run with the inputs of one that has ended.
 * @throws {AppError} `run_not_found`, `run_not_finished`, `content_erased`, and what `startManualRun` throws
 */
export async function retryRun(
  deps: StartDeps,
  input: Omit<Parameters<typeof enqueueRetry>[2], 'disabledProviders'>,
): Promise<Run> {
  const retry = { ...input, disabledProviders: disabled(deps) };
  return start(deps, await enqueueRetry(deps.database, deps.admission.rule, retry));
}

function disabled({ providerEnabled }: StartDeps): readonly string[] {
  return SLOTS.filter((slot) => !providerEnabled(slot));
}

/** Starts an admitted run. When Temporal cannot be reached, the row stays as it is and the next admission starts it. */
async function start(deps: StartDeps, { run, startable }: EnqueuedRun): Promise<Run> {
  if (startable === undefined) {
    deps.admission.nudge();
    return run;
  }
  try {
    await deps.engine.startRun(startable);
  } catch (err) {
    deps.log.warn({ err, runId: run.id }, 'a run stays queued until its workflow can be started');
  }
  return run;
}
