export { connectionOptions, openTemporal, type TemporalSettings } from './connection.ts';
export {
  SCHEDULER_WORKFLOW_ID,
  schedulerTaskQueue,
  SEARCH_ATTRIBUTE,
  webhookTaskQueue,
  WORKFLOW,
} from './names.ts';
