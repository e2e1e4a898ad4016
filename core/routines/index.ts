export { ACTIVATION_REASONS, readRoutineDetail, type RoutineDetail } from './activation.ts';
export { routineAfterRun } from './after-run.ts';
export { createRoutineEditor } from './editor.ts';
export { activateRoutine, archiveRoutine, pauseRoutine, type StopDeps } from './lifecycle.ts';
export { pauseUnreadable, setNextTimes, type PausedRoutine } from './next-times.ts';
export { BUILT_IN_VARIABLES, fillPlaceholders, unknownPlaceholders } from './placeholders.ts';
export { listRoutines, readRoutine } from './queries.ts';
export type { QueuedRuns, UnwantedReason } from './queued-runs.ts';
export { retireRoutines } from './retire.ts';
export { restoreVersion } from './restore.ts';
export {
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  ROUTINE_STATES,
  type Limits,
  type MisfirePolicy,
  type OverlapPolicy,
  type Routine,
  type RoutineFields,
  type RoutineState,
  type RoutineSummary,
} from './routine.ts';
export { createRoutine, patchRoutine, rotateWebhookSecret, type RoutinePatch } from './save.ts';
export { ROUTINE_TRANSITIONS } from './states.ts';
export { isPromptTooLarge } from './text-limits.ts';
export {
  createSealedWebhookSecrets,
  generateWebhookSecret,
  SECRET_PREFIX,
  type SealedWebhookSecrets,
} from './webhook-secret.ts';
export { VERSION_FIELDS, type Version, type VersionSummary } from './version.ts';
export { listVersions, readVersion } from './versions.ts';
export { markWebhookGone } from './webhook.ts';
