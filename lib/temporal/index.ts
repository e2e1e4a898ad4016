export { connectionOptions, openTemporal, type TemporalSettings } from './connection.ts';
export {
  SCHEDULER_WORKFLOW_ID,
  schedulerTaskQueue,
  SEARCH_ATTRIBUTE,
  webhookTaskQueue,
  TRACE_HEADER,
  WORKFLOW,
} from './names.ts';
