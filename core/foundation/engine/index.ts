export {
  createEngine,
  isWork,
  TRIGGERS,
  type Engine,
  type StartableDelivery,
  type StartableRun,
  type Trigger,
} from './engine.ts';
