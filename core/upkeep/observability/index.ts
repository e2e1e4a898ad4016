export { watchBacklog, watchFeed, watchPool } from './gauges.ts';
export { obstacles, type Obstacles } from './obstacles.ts';
export { observeModelCalls } from './model-calls.ts';
