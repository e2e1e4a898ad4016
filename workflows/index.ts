export { heldAction } from './held-action.ts';
export { run, webhookDelivery } from './run.ts';
export { scheduler } from './scheduler.ts';
