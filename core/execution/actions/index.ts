export { ACTION_REASONS, ACTION_STATES, type Action, type ActionState } from './action.ts';
export { approveAction, decideEach, rejectAction } from './decide.ts';
export { closeArchived, closeWithTools, deleteActions, eraseActions, expireActions } from './end.ts';
export { MAX_OPEN_ACTIONS, recordHeldCall } from './hold.ts';
export { listActions, readActionDetail, type ActionDetail } from './queries.ts';
export { hasReference, withIds } from './references.ts';
export { sendAction, type SendDeps, type SendOutcome } from './send.ts';
export { startDueActions, type StartActionsDeps } from './start.ts';
