export { createEngine, type Engine, type StartableDelivery, type StartableRun } from './engine.ts';
