import { z } from 'zod';
import { refuseLongNumbers } from '#core/clients/json-schemas/index.ts';
import { POLICY_STATES, type ToolPolicy } from '#core/integrations/tools/index.ts';
import { present } from '../../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../../http/schemas.ts';

const jsonObject = z.record(z.string(), z.unknown());
const MAX_SCHEMA_LENGTH = 65_536;

const maxCallsPerRun = z
  .number()
  .int()
  .min(1)
  .max(1_000)
  .nullable()
  .describe('The most calls of this tool in one run; null for no limit of its own.');

const argumentSchema = jsonObject
  .refine((schema) => JSON.stringify(schema).length <= MAX_SCHEMA_LENGTH, 'more than 64 kB')
  .superRefine(refuseLongNumbers)
  .nullable()
  .meta({
    description:
      "A JSON Schema that narrows the tool's own: arguments have to satisfy both. Its numbers have at most 15 digits. A change of it needs a confirmation while the tool is automatic.",
    example: { properties: { site: { const: 'https://example.com' } } },
  });

const definitionHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits')
  .describe('SHA-256 of the server’s latest name, title, description, schemas and annotations.');

const confirmedDefinition = component('ConfirmedDefinition', {
  title: z.string().nullable(),
  description: z.string().nullable(),
  inputSchema: jsonObject,
  outputSchema: jsonObject.nullable(),
  annotations: jsonObject.nullable(),
});

export const POLICY_WARNINGS = ['mixes_untrusted_and_outward', 'schema_left_out', 'definition_hash_missing'] as const;

export interface PolicyWarning {
  readonly code: (typeof POLICY_WARNINGS)[number];
  readonly message: string;
}

export const toolPolicy = component('ToolPolicy', {
  id: idOf('policy'),
  routineId: idOf('routine'),
  connectionId: idOf('connection'),
  name: z.string().describe('Name of the tool at its server.'),
  title: z.string().nullable(),
  description: z.string().nullable(),
  inputSchema: jsonObject,
  outputSchema: jsonObject.nullable(),
  annotations: jsonObject.nullable().describe('Claims of the server, such as `readOnlyHint`; they are not verified.'),
  state: z
    .enum(POLICY_STATES)
    .describe(
      '`automatic`: runs call the tool without asking. `hold`: each call waits for a person, see `GET /v1/actions`, unless a standing rule lets it through. `disabled`: the model is not offered it.',
    ),
  definitionHash,
  confirmedHash: z
    .string()
    .nullable()
    .describe('Hash of the confirmed definition. It differs from `definitionHash` after a change.'),
  confirmedDefinition: confirmedDefinition
    .nullable()
    .describe(
      'The confirmed definition, if the present one differs; null if both are the same, or no confirmed one is known.',
    ),
  confirmedBy: z.string().nullable().describe('Id of the person, or of the API key, that confirmed the tool.'),
  confirmedAt: timestamp.nullable(),
  vanishedAt: timestamp.nullable().describe('When a discovery first missed the tool.'),
  maxCallsPerRun,
  argumentSchema,
  warnings: z
    .array(component('PolicyWarning', { code: z.enum(POLICY_WARNINGS), message: z.string() }))
    .describe(
      'Warnings to read before confirming the tool. `mixes_untrusted_and_outward`: with this tool, runs read text that strangers may write, and a tool of another connection sends or changes something. `schema_left_out`, after confirmation: parts of its schemas cannot be read, so calls are checked against the rest. `definition_hash_missing`, in the response to a confirmation: the caller has not proven that they saw this definition.',
    ),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export const policyPatch = component('UpdateToolPolicy', {
  confirmAutomaticExecution: z
    .boolean()
    .optional()
    .describe('True lets runs call the tool, in its present definition, without asking a person.'),
  state: z
    .enum(POLICY_STATES)
    .optional()
    .describe('`hold` confirms the present definition, as each call then waits for a person.'),
  maxCallsPerRun: maxCallsPerRun.optional(),
  argumentSchema: argumentSchema.optional(),
  definitionHash: definitionHash
    .optional()
    .describe(
      'Hash of the definition that you have read; if the definition has changed since, the response is 412. A confirmation without it has the warning `definition_hash_missing`, because a newer definition may be confirmed unseen.',
    ),
});

const skippedTool = component('SkippedTool', {
  name: z.string().describe('Name of the tool, or its place in the list if it has no name.'),
  field: z.string().nullable().describe('The field that cannot be read; null for the whole tool.'),
  reason: z.string(),
});

export const discovery = component('Discovery', {
  added: z.number().int(),
  changed: z.number().int(),
  vanished: z.number().int(),
  unchanged: z.number().int(),
  skipped: z.number().int().describe('Number of tools that were left out.'),
  skippedTools: z
    .array(skippedTool)
    .describe(
      'The first 50 tools that were left out, with the reason: a field that cannot be read, an unusable or repeated name, a definition over 64 kB or with invisible characters, or an `x-mcp-header` annotation that MCP does not allow.',
    ),
  droppedFields: z
    .array(skippedTool)
    .describe('The first 50 unreadable fields. Their tools are listed without these fields.'),
  truncated: z
    .boolean()
    .describe(
      'True when the server has more than 50 pages, 1,000 tools or 4 MB of definitions; the rest was not read.',
    ),
  circular: z
    .boolean()
    .describe(
      'True when the pages of the server repeat. Its other tools are unknown, so no tool is marked as vanished.',
    ),
  tools: z.array(toolPolicy).describe('All policies of this connection.'),
});

export const discoverParams = z.strictObject({
  routineId: idOf('routine'),
  connectionId: idOf('connection'),
});

export const policyParams = z.strictObject({
  routineId: idOf('routine'),
  policyId: idOf('policy'),
});

export function presentPolicy(row: ToolPolicy, warnings: readonly PolicyWarning[]) {
  const { confirmedHash, definitionHash } = row;
  const isChanged = confirmedHash !== null && confirmedHash !== definitionHash;
  return present(toolPolicy, {
    ...row,
    name: row.toolName,
    confirmedDefinition: isChanged ? row.confirmedDefinition : null,
    warnings,
  });
}
