export { dropDetail, installRuntime } from './runtime.ts';
export {
  buildsOf,
  currentBuildOf,
  deploymentNameOf,
  ensureSearchAttributes,
  openWorkflowsOf,
  SEARCH_ATTRIBUTE_NAMES,
  setCurrentBuild,
  type Build,
  type KnownBuild,
} from './deployment.ts';
export { connectionOptions, openTemporal } from './connection.ts';
export { SCHEDULER_WORKFLOW_ID, schedulerWorkflowId, SEARCH_ATTRIBUTE, TRACE_HEADER, WORKFLOW } from './names.ts';
