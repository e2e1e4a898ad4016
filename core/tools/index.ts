export {
  BUILT_IN_TOOLS,
  builtInTool,
  FINISH,
  STATED_OUTCOMES,
  withoutDialect,
  type BuiltInOutcome,
  type StatedOutcome,
} from './own-tools.ts';
export { prepareCall, type AnsweredCall, type FailedCall, type ToolCallDeps } from './call.ts';
export { changePolicy } from './change-policy.ts';
export { discoverTools } from './discover.ts';
export { fixedCallFault, NOT_READ_ONLY } from './fixed-call.ts';
export { assertUsableSchema, SchemaError, schemaFault, schemaRefusal } from './json-schema.ts';
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
export { isReadOnly, POLICY_STATES, type ToolPolicy } from './policy.ts';
export {
  automaticToolsJson,
  listPolicies,
  policyUnchanged,
  routinesUsing,
  targetJson,
  targetOf,
  type TargetJson,
  type ToolTarget,
  type VersionTool,
} from './queries.ts';
export type { Refusal } from './decide-call.ts';
export { redact, noResult, readResult } from './tool-result.ts';
export {
  SHOWN_LENGTH,
  type PendingTool,
  type PlannedCall,
  type ToolRecord,
} from './tool-record.ts';
