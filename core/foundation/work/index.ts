export type { EndedWork, Kinds, WorkOutcome, RecordKind, RequestKind, WorkItem } from './kinds.ts';
export { RECORD_PACE } from './kinds.ts';
export { addWork, claimWork, failedWork, forgetWork, hastenWork, unknownWork } from './queue.ts';
export { workOff } from './work-off.ts';
