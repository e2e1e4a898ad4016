import { databaseTime, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { nextOccurrence, parseStoredSchedule } from '#core/scheduling/index.ts';
import { generateWebhookSecret, type SealedWebhookSecrets } from '#core/webhooks/index.ts';
import { checkRoutine, type RoutineChecks } from './check.ts';
import { isMaterialChange } from './material-change.ts';
import {
  insertRoutine,
  lockRoutine,
  readRoutine,
  readWebhookSecret,
  updateRoutine,
  writeWebhookSecret,
} from './queries.ts';
import type { Routine, RoutineFields } from './routine.ts';

export interface SaveDeps extends RoutineChecks {
  readonly database: Database;
  readonly webhookSecrets: SealedWebhookSecrets;
}

export interface SavedRoutine {
  readonly routine: Routine;
  /** Shown once: on creation with a webhook URL, or when a URL is set for the first time. */
  readonly webhookSecret: string | undefined;
}

/** Creates a draft. @throws {AppError} everything that `checkRoutine` throws */
export async function createRoutine(
  deps: SaveDeps,
  input: { id: string; projectId: string; fields: RoutineFields },
): Promise<SavedRoutine> {
  const { id, projectId, fields } = input;
  await checkRoutine(deps.database, deps, projectId, fields);
  const webhookSecret = fields.webhookUrl === null ? undefined : generateWebhookSecret();
  const sealed = webhookSecret === undefined ? null : deps.webhookSecrets.seal(id, webhookSecret);
  const created = await insertRoutine(deps.database, {
    ...fields,
    id,
    projectId,
    webhookSecret: sealed,
  });
  if (created !== undefined) return { routine: created, webhookSecret };
  // An earlier attempt of this request committed and was never answered: its secret has not been seen yet.
  const stored = await readWebhookSecret(deps.database, projectId, id);
  return {
    routine: await readRoutine(deps.database, projectId, id),
    webhookSecret: stored === undefined ? undefined : deps.webhookSecrets.open(id, stored),
  };
}

/**
 * Changes a routine. A material change of a routine returns it to draft and takes its next time away.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `precondition_failed`, and what `checkRoutine` throws
 */
export async function patchRoutine(
  deps: SaveDeps,
  input: {
    id: string;
    projectId: string;
    patch: RoutinePatch;
    /** The versions the caller would change, when it said so. */
    expectedVersions: readonly number[] | undefined;
  },
): Promise<SavedRoutine> {
  const { id, projectId, patch, expectedVersions } = input;
  // Checked before the row is held: the checks may ask the gateway, and nothing outside is called in a transaction.
  const seen = await readRoutine(deps.database, projectId, id);
  assertPatchable(seen, expectedVersions);
  const attached = patch.skills === undefined ? seen.skills : [];
  await checkRoutine(deps.database, deps, projectId, applyPatch(seen, patch), attached);

  const saved = await transaction(deps.database, async (tx) => {
    const before = await lockRoutine(tx, projectId, id);
    assertPatchable(before, expectedVersions);
    // Another editor came between: what was checked is not what would be written, so look again.
    if (before.version !== seen.version) return undefined;
    const fields = applyPatch(before, patch);
    const material = isMaterialChange(before, fields);
    const rescheduled = fields.schedule !== before.schedule || fields.timezone !== before.timezone;
    const state = material ? 'draft' : before.state;
    // An occurrence that is due and not yet claimed keeps its place: a new schedule does not undo it.
    const now = await databaseTime(tx);
    const isDue = before.nextRunAt !== null && before.nextRunAt <= now;
    const next =
      rescheduled && !isDue
        ? nextOccurrence(parseStoredSchedule(fields.schedule), fields.timezone, now)
        : before.nextRunAt;
    const firstUrl = before.webhookUrl === null && fields.webhookUrl !== null;
    const webhookSecret = firstUrl ? generateWebhookSecret() : undefined;
    if (webhookSecret !== undefined) {
      const secret = deps.webhookSecrets.seal(id, webhookSecret);
      await writeWebhookSecret(tx, { id, projectId, secret, keepPrevious: false });
    }
    const routine = await updateRoutine(tx, id, {
      fields,
      state,
      stateReason: material ? null : before.stateReason,
      revision: before.revision + (material ? 1 : 0),
      nextRunAt: state === 'active' ? next : null,
      // Saving the URL, even the same one, says that its receiver is there again.
      rearmWebhook: patch.webhookUrl !== undefined,
    });
    return { routine, webhookSecret };
  });
  return saved ?? patchRoutine(deps, input);
}

/** Limits and budget are changed field by field, everything else as a whole. */
export type RoutinePatch = Partial<Omit<RoutineFields, 'limits' | 'budget'>> & {
  readonly limits?: Partial<RoutineFields['limits']>;
  readonly budget?: Partial<RoutineFields['budget']>;
};

function applyPatch(before: RoutineFields, patch: RoutinePatch): RoutineFields {
  return {
    ...before,
    ...patch,
    limits: { ...before.limits, ...patch.limits },
    budget: { ...before.budget, ...patch.budget },
  };
}

/**
 * Replaces the webhook secret; both sign for 24 hours, so that a receiver can change over without losing a delivery.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `webhook_not_configured`
 */
export async function rotateWebhookSecret(
  deps: Pick<SaveDeps, 'database' | 'webhookSecrets'>,
  projectId: string,
  id: string,
): Promise<{ routine: Routine; webhookSecret: string }> {
  const webhookSecret = generateWebhookSecret();
  return transaction(deps.database, async (tx) => {
    const routine = await lockRoutine(tx, projectId, id);
    if (routine.state === 'archived') throw new AppError('routine_archived');
    if (routine.webhookUrl === null) throw new AppError('webhook_not_configured');
    const secret = deps.webhookSecrets.seal(id, webhookSecret);
    await writeWebhookSecret(tx, { id, projectId, secret, keepPrevious: true });
    return { routine: await readRoutine(tx, projectId, id), webhookSecret };
  });
}

function assertPatchable(routine: Routine, expected: readonly number[] | undefined): void {
  if (routine.state === 'archived') throw new AppError('routine_archived');
  if (expected !== undefined && !expected.includes(routine.version)) {
    throw new AppError('precondition_failed');
  }
}
