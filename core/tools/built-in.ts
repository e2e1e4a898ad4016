import { calculateTool } from '#core/calculate/index.ts';
import type { JsonObject } from '#lib/json.ts';

/** Names the tools that the service carries out itself: read-only, without a connection, in a run that its routine lets use them. */
export const BUILT_IN_TOOLS = ['calculate'] as const;
export type BuiltInToolName = (typeof BUILT_IN_TOOLS)[number];

interface BuiltInTool {
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** Never throws; an error says what to send instead. */
  execute(args: unknown): BuiltInOutcome;
}

export type BuiltInOutcome =
  | { readonly ok: true; readonly result: object }
  | { readonly ok: false; readonly error: string };

const TOOLS: Readonly<Record<BuiltInToolName, BuiltInTool>> = { calculate: calculateTool };

/** Returns the built-in tool that a step calls; undefined for a tool of a connection, which has a policy. */
export function builtInTool(call: {
  readonly toolName: string | null;
  readonly policyId: string | null;
}): BuiltInTool | undefined {
  const name = BUILT_IN_TOOLS.find((each) => each === call.toolName);
  return name === undefined || call.policyId !== null ? undefined : TOOLS[name];
}

export function builtInDefinition(name: BuiltInToolName): BuiltInTool {
  return TOOLS[name];
}
