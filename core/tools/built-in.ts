import { calculateTool } from '#core/calculate/index.ts';
import type { JsonObject } from '#lib/json.ts';
import { FINISH, finishTool, type FinishRule } from './finish.ts';

/**
 * Names the tools that the service carries out itself: read-only, without a connection, in a run that its routine lets
 * use them.
 */
export const BUILT_IN_TOOLS = ['calculate'] as const;
export type BuiltInToolName = (typeof BUILT_IN_TOOLS)[number];

/** Names every tool of the service itself that a run may be offered. */
export type OwnToolName = BuiltInToolName | typeof FINISH;

/** The fields of a routine that decide which of the service's own tools its runs are offered. */
export interface OwnToolRule extends FinishRule {
  readonly builtInTools: readonly BuiltInToolName[];
}

/**
 * Returns the tools of the service itself that runs of a routine are offered. Beside other tools a typed result is asked
 * for through `finish`: a request that holds the text to a schema leaves many servers no way to call a tool.
 * @param others number of the tools of its connections
 */
export function ownTools(rule: OwnToolRule, others: number): readonly OwnToolName[] {
  const { builtInTools, outcome, resultSchema } = rule;
  const asksForResult = resultSchema !== null && builtInTools.length + others > 0;
  return outcome === 'required' || asksForResult ? [...builtInTools, FINISH] : builtInTools;
}

interface ToolDefinition {
  readonly description: string;
  readonly inputSchema: JsonObject;
}

interface BuiltInTool extends ToolDefinition {
  /** Executes the tool. Never throws: an error says what to send instead. */
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

export function ownDefinition(name: OwnToolName, rule: FinishRule): ToolDefinition {
  return name === FINISH ? finishTool(rule) : TOOLS[name];
}
