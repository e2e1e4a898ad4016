export { releaseDue } from './admit.ts';
export { createAdmission, type Admission, type AdmissionReport } from './admission.ts';
export {
  MOST_FOR_BUDGET,
  RUN_START_LEASE,
  accountPlaces,
  othersWait,
  rankOf,
  shareOf,
  takePlace,
  takesPlace,
  waiting,
  waitsForBudget,
  waitsForConnection,
} from './room.ts';
export {
  ANNOUNCE_EVERY_MS,
  announceSlots,
  assertRehearses,
  buildIsGone,
  newWorkerId,
  openRunsOfBuild,
  withdrawSlots,
  workersOfBuild,
  type WorkerSlots,
} from './slots.ts';
export { WAITS, waitOf, type Wait } from './waiting-for.ts';
