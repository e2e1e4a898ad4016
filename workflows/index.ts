export { heldAction, run, webhookDelivery } from './run.ts';
export { scheduler } from './scheduler.ts';
