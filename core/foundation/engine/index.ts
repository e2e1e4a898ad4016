export {
  createEngine,
  TRIGGERS,
  type Engine,
  type StartableAction,
  type StartableDelivery,
  type StartableRun,
  type Trigger,
} from './engine.ts';
