export * as asking from './ask.ts';
export { BUILT_IN_TOOLS, builtInTool, FINISH, STATED_OUTCOMES, URGENCIES } from './own-tools.ts';
export { callOnce, type MadeCall, type ToolCallDeps } from './call.ts';
export { changePolicy } from './change-policy.ts';
export { discoverTools } from './discover.ts';
export * as judging from './judge-call.ts';
export {
  callableTools,
  callableToolsJson,
  offeredTools,
  offeredToolsJson,
  type CallableToolJson,
  type HintedTool,
  type OfferedTool,
  type OfferedToolJson,
} from './offered.ts';
export { notReadOnly, POLICY_STATES, type ToolPolicy } from './policy.ts';
export {
  enabledToolsJson,
  toolsOfProject,
  listPolicies,
  policyUnchanged,
  routinesUsing,
  readTarget,
  targetJson,
  targetOf,
  type ProjectTool,
  type TargetJson,
  type ToolTarget,
  type VersionTool,
} from './queries.ts';
export * as rules from './rules.ts';
export * as rehearsing from './rehearse.ts';
export {
  noResult,
  readResult,
  redact,
  SHOWN_LENGTH,
  type PendingTool,
  type PlannedCall,
  type ToolRecord,
} from './tool-result.ts';
