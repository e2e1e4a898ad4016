export { run } from './run.ts';
export { scheduler } from './scheduler.ts';
export { webhookDelivery } from './webhook-delivery.ts';
