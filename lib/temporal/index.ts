export { dropDetail, installRuntime } from './runtime.ts';
export { connectionOptions, openTemporal, type TemporalSettings } from './connection.ts';
export { ensureSearchAttributes, SEARCH_ATTRIBUTE_NAMES } from './search-attributes.ts';
export {
  SCHEDULER_WORKFLOW_ID,
  schedulerTaskQueue,
  SEARCH_ATTRIBUTE,
  webhookTaskQueue,
  TRACE_HEADER,
  WORKFLOW,
} from './names.ts';
