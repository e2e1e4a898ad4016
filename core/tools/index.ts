export {
  BUILT_IN_TOOLS,
  builtInTool,
  type BuiltInOutcome,
  type BuiltInToolName,
} from './built-in.ts';
export { prepareCall, type AnsweredCall, type FailedCall, type ToolCallDeps } from './call.ts';
export { changePolicy } from './change-policy.ts';
export { discoverTools } from './discover.ts';
export { fixedCallFault, NOT_READ_ONLY } from './fixed-call.ts';
export { assertUsableSchema, schemaFault, SchemaError, schemaRefusal } from './json-schema.ts';
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
export { FINISH, STATED_OUTCOMES, withoutDialect, type StatedOutcome } from './finish.ts';
export { isReadOnly, POLICY_STATES, type ToolPolicy } from './policy.ts';
export { listPolicies, policyUnchanged, routinesUsing } from './queries.ts';
export { automaticToolsJson, type VersionTool } from './snapshot.ts';
export type { Refusal } from './refusal.ts';
export { targetJson, targetOf, type TargetJson, type ToolTarget } from './target.ts';
export { redact } from './redact.ts';
export {
  type PendingTool,
  type PlannedCall,
  SHOWN_LENGTH,
  type ToolRecord,
} from './tool-record.ts';
export { noResult, readResult } from './tool-result.ts';
