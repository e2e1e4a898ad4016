import { createHash } from 'node:crypto';
import type { ToolDefinition } from '#core/clients/mcp/index.ts';
import { mayBeExact } from '#lib/exact-json/parse.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';

export const POLICY_STATES = ['disabled', 'automatic', 'hold'] as const;
export type PolicyState = (typeof POLICY_STATES)[number];

/**
 * Permission for one routine to use one tool of one connection, within limits: without asking a person, or, with the
 * state `hold`, once a person has approved the call.
 */
export interface ToolPolicy extends Omit<ToolDefinition, 'name'> {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly connectionId: string;
  readonly toolName: string;
  /** Hash of the server's latest definition. */
  readonly definitionHash: string;
  /** Hash of the confirmed definition. The tool is enabled only while this hash equals `definitionHash`. */
  readonly confirmedHash: string | null;
  readonly confirmedDefinition: ConfirmedDefinition | null;
  /** Readable parts of the confirmed schemas; null if all of them can be read. */
  readonly readable: ReadableSchemas | null;
  readonly state: PolicyState;
  readonly vanishedAt: Date | null;
  /** Id of the person or API key that confirmed the definition. */
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
  readonly maxCallsPerRun: number | null;
  /** Schema that arguments must satisfy in addition to the tool's own. */
  readonly argumentSchema: JsonObject | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The parts of a definition that can change. The name cannot: a tool with another name is another tool. */
export type ConfirmedDefinition = Omit<ToolDefinition, 'name'>;

/** A tool's schemas without their unreadable keywords. A schema that is wholly readable is left out. */
export interface ReadableSchemas {
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly leftOut: readonly LeftOutKeyword[];
}

export interface LeftOutKeyword {
  /** Place in dotted form, like `inputSchema.properties.year.pattern`. */
  readonly place: string;
  readonly reason: string;
}

/** Returns the schemas that check the calls of a tool. */
export function checkedSchemas({
  inputSchema,
  outputSchema,
  readable,
}: Pick<ToolPolicy, 'inputSchema' | 'outputSchema' | 'readable'>): Pick<ToolPolicy, 'inputSchema' | 'outputSchema'> {
  return {
    inputSchema: readable?.inputSchema ?? inputSchema,
    outputSchema: readable?.outputSchema ?? outputSchema,
  };
}

/**
 * Tells whether a call that may have been carried out can be repeated. The server's hint counts because a person
 * confirmed the definition with it; a contradictory hint counts as a no.
 */
export function isRepeatable(
  policy: Pick<ToolPolicy, 'state' | 'annotations' | 'definitionHash' | 'confirmedHash'>,
): boolean {
  const { state, annotations, definitionHash, confirmedHash } = policy;
  if (state !== 'automatic' || confirmedHash !== definitionHash || annotations === null) return false;
  const { readOnlyHint, idempotentHint, destructiveHint } = annotations;
  if (readOnlyHint === true) return destructiveHint !== true;
  return idempotentHint === true;
}

/** Names the missing hint when the server does not declare the tool read-only, or contradicts itself. */
export function notReadOnly({ annotations }: Pick<ToolPolicy, 'annotations'>): string | undefined {
  return annotations?.['readOnlyHint'] === true && annotations['destructiveHint'] !== true
    ? undefined
    : 'the server does not say that this tool only reads (readOnlyHint)';
}

/**
 * Hashes the whole definition: SHA-256 in hex, independent of the order of keys. Numbers are hashed as doubles, as in
 * earlier releases, so that earlier confirmations stay valid.
 */
export function definitionHash(definition: ToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const whole = { name, title, description, inputSchema, outputSchema, annotations };
  const json = canonicalJson(whole);
  const hashed = mayBeExact(json) ? canonicalJson(JSON.parse(json)) : json;
  return createHash('sha256').update(hashed).digest('hex');
}
