export { ACTIVATION_REASONS, readRoutineDetail } from './activation.ts';
export { routineAfterRun } from './after-run.ts';
export { gateFault } from './check.ts';
export { eraseRoutines, forgetVersionsOf, projectsWithTexts } from './erase.ts';
export { activateRoutine, restoreRoutine, retireRoutines, stopRoutine, takeNewTools } from './lifecycle.ts';
export { hasProofRun, keepProofs } from './proof.ts';
export * as proposals from './propose.ts';
export { findRefusals, putRoutine } from './put.ts';
export {
  findNamedRoutines,
  listRoutines,
  lockRoutine,
  lockUsersOfConnection,
  readRoutine,
  type ProvenRoutine,
} from './queries.ts';
export { ROUTINE_STATES, type Routine } from './routine.ts';
export { createRoutine, patchRoutine, restoreVersion, rotateWebhookSecret } from './save.ts';
export { SCHEDULE_ENDED, pauseRoutinesOn, pauseStopped } from './service-pauses.ts';
export { KEPT_VERSIONS, listVersions, readVersion } from './versions.ts';
export { WARNING_CODES, mixingIn, type RoutineWarning } from './warnings.ts';
export { createSealedWebhookSecrets, markWebhookGone } from './webhook.ts';
export { setNextTimes } from './writes.ts';
