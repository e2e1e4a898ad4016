export { watchBacklog } from './backlog.ts';
export { obstacles } from './obstacles.ts';
export { watchPool } from './pool.ts';
export { observeModelCalls } from './model-calls.ts';
export { watchFeed } from './feed.ts';
