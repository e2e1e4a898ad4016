export { ACTIVATION_REASONS, readRoutineDetail, type RoutineDetail } from './activation.ts';
export { routineAfterRun } from './after-run.ts';
export { eraseRoutines, forgetVersionsOf, projectsWithTexts } from './erase.ts';
export {
  activateRoutine,
  archiveRoutine,
  pauseRoutine,
  retireRoutines,
  takeNewTools,
} from './lifecycle.ts';
export {
  isOver,
  nextStarts,
  nextTimeFrom,
  setNextTimes,
  shownNextRun,
  timeFor,
  timetableOf,
  withoutJitter,
  type Timing,
  listOccurrences,
} from './times.ts';
export { asksFor, fillPlaceholders, unknownPlaceholders } from './placeholders.ts';
export { previewTimes, gateFault } from './check.ts';
export {
  ABNORMAL_FROM_TOKENS,
  DEFINITION,
  MEDIAN_OF_RUNS,
  variables,
  type Definition,
  type Limits,
  type OutcomeRule,
} from './definition.ts';
export {
  creationOf,
  patchOf,
  shownOf,
  shortFields,
  looseOf,
  type Field,
  type Fields,
} from './field.ts';
export { gate, type Gate } from './gate.ts';
export {
  listRoutines,
  lockRoutine,
  lockUsersOfConnection,
  readRoutine,
  type ProvenRoutine,
} from './queries.ts';
export { hasProofRun, keepProofs } from './proof.ts';
export {
  RESULT_CHECK_TYPES,
  type ResultCheck,
  type ResultCheckType,
  resultSection,
  type ResultForm,
  type ResultKey,
} from './results.ts';
export {
  restoreVersion,
  createRoutine,
  patchRoutine,
  rotateWebhookSecret,
  type RoutinePatch,
  type SavedRoutine,
} from './save.ts';
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
  type RoutineState,
  type RoutineSummary,
} from './routine.ts';
export { pauseEnded, pauseRoutinesOn, pauseUnreadable, SCHEDULE_ENDED } from './service-pauses.ts';
export { ROUTINE_TRANSITIONS } from './states.ts';
export { mixingIn, WARNING_CODES, type RoutineWarning } from './warnings.ts';
export { MAX_CARRIED_LENGTH, promptRoom } from './text-limits.ts';
export {
  createSealedWebhookSecrets,
  generateWebhookSecret,
  SECRET_PREFIX,
  type SealedWebhookSecrets,
  markWebhookGone,
} from './webhook.ts';
export {
  definitionForm,
  storedForm,
  VERSION_FIELDS,
  type StoredDefinition,
} from './stored-definition.ts';
export { KEPT_VERSIONS, listVersions, readVersion } from './versions.ts';
