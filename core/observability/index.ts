export { watchBacklog } from './backlog.ts';
export { watchPool } from './pool.ts';
export { observeModelCalls } from './model-calls.ts';
