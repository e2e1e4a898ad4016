export { ACTIVATION_REASONS, readRoutineDetail, type RoutineDetail } from './activation.ts';
export { routineAfterRun } from './after-run.ts';
export { gateFault, previewTimes } from './check.ts';
export { eraseRoutines, forgetVersionsOf, projectsWithTexts } from './erase.ts';
export {
  activateRoutine,
  archiveRoutine,
  pauseRoutine,
  retireRoutines,
  takeNewTools,
} from './lifecycle.ts';
export { hasProofRun, keepProofs } from './proof.ts';
export {
  listRoutines,
  lockRoutine,
  lockUsersOfConnection,
  readRoutine,
  type ProvenRoutine,
} from './queries.ts';
export {
  DELIVER_POLICIES,
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  ROUTINE_STATES,
  type DeliverPolicy,
  type MisfirePolicy,
  type OverlapPolicy,
  type Routine,
  type RoutineFields,
  type RoutineSummary,
} from './routine.ts';
export {
  createRoutine,
  patchRoutine,
  restoreVersion,
  rotateWebhookSecret,
  type RoutinePatch,
  type SavedRoutine,
} from './save.ts';
export { SCHEDULE_ENDED, pauseEnded, pauseRoutinesOn, pauseUnreadable } from './service-pauses.ts';
export { ROUTINE_TRANSITIONS } from './states.ts';
export {
  isOver,
  listOccurrences,
  nextStarts,
  nextTimeFrom,
  setNextTimes,
  shownNextRun,
  timeFor,
  timetableOf,
  withoutJitter,
  type Timing,
} from './times.ts';
export { KEPT_VERSIONS, listVersions, readVersion } from './versions.ts';
export { WARNING_CODES, mixingIn, type RoutineWarning } from './warnings.ts';
export {
  SECRET_PREFIX,
  createSealedWebhookSecrets,
  markWebhookGone,
  type SealedWebhookSecrets,
} from './webhook.ts';
