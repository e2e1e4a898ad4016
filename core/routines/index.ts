export { activateRoutine, archiveRoutine, pauseRoutine } from './lifecycle.ts';
export { isMaterialChange, MATERIAL_FIELDS } from './material-change.ts';
export { listRoutines, lockRoutine, readRoutine } from './queries.ts';
export {
  MISFIRE_POLICIES,
  OVERLAP_POLICIES,
  ROUTINE_STATES,
  type Budget,
  type Limits,
  type MisfirePolicy,
  type OverlapPolicy,
  type Routine,
  type RoutineFields,
  type RoutineState,
} from './routine.ts';
export { ROUTINE_TRANSITIONS } from './states.ts';
export {
  createRoutine,
  patchRoutine,
  rotateWebhookSecret,
  type RoutinePatch,
  type SaveDeps,
  type SavedRoutine,
} from './save.ts';
