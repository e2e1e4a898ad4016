import type { JsonObject } from '#lib/json.ts';

export const POLICY_STATES = ['disabled', 'automatic'] as const;
export type PolicyState = (typeof POLICY_STATES)[number];

/** Says whether one routine may use one tool of one connection without asking a person, and within which limits. */
export interface ToolPolicy {
  readonly id: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly connectionId: string;
  readonly toolName: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly annotations: JsonObject | null;
  /** The hash of the definition above, which is the server's latest. */
  readonly definitionHash: string;
  /** The hash of the definition that a person confirmed; automatic only while both are the same. */
  readonly confirmedHash: string | null;
  readonly confirmedDefinition: ConfirmedDefinition | null;
  /** What can be read of the confirmed schemas, where a part of them cannot; null where all can. */
  readonly readable: ReadableSchemas | null;
  readonly state: PolicyState;
  readonly vanishedAt: Date | null;
  /** Id of the person, or of the API key, that confirmed. */
  readonly confirmedBy: string | null;
  readonly confirmedAt: Date | null;
  readonly maxCallsPerRun: number | null;
  /** Arguments have to satisfy it besides the tool's own schema. */
  readonly argumentSchema: JsonObject | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The parts of a definition that can change; its name cannot, as another name is another tool. */
export type ConfirmedDefinition = Pick<
  ToolPolicy,
  'title' | 'description' | 'inputSchema' | 'outputSchema' | 'annotations'
>;

/** Schemas of a tool without the keywords that cannot be read; a schema that can be read as a whole is missing. */
export interface ReadableSchemas {
  readonly inputSchema?: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly leftOut: readonly LeftOutKeyword[];
}

export interface LeftOutKeyword {
  /** In dotted form, like `inputSchema.properties.year.pattern`. */
  readonly place: string;
  readonly reason: string;
}

/** Returns the schemas that calls of a tool are held to. */
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
 * Tells whether a call that may have been carried out can be made again. The server's word alone is not enough: it
 * counts because a person confirmed the definition it stands in, and a contradiction counts against it.
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

/** Says what is missing where the server does not say of the tool that it only reads, or contradicts itself. */
export function notReadOnly({ annotations }: Pick<ToolPolicy, 'annotations'>): string | undefined {
  return annotations?.['readOnlyHint'] === true && annotations['destructiveHint'] !== true
    ? undefined
    : 'the server does not say that this tool only reads (readOnlyHint)';
}
