export { dropDetail, installRuntime } from './runtime.ts';
export {
  buildsOf,
  currentBuildOf,
  deploymentNameOf,
  openWorkflowsOf,
  setCurrentBuild,
  type Build,
  type KnownBuild,
} from './deployment.ts';
export { openTemporal } from './connection.ts';
export { connectionOptions } from './connection-options.ts';
export { ensureSearchAttributes, SEARCH_ATTRIBUTE_NAMES } from './search-attributes.ts';
export {
  SCHEDULER_WORKFLOW_ID,
  schedulerWorkflowId,
  SEARCH_ATTRIBUTE,
  TRACE_HEADER,
  WORKFLOW,
} from './names.ts';
