export { watchBacklog, watchFeed, watchPool } from './gauges.ts';
export { obstacles } from './obstacles.ts';
export { observeModelCalls } from './model-calls.ts';
