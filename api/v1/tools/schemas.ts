import { z } from 'zod';
import { refuseLongNumbers } from '#core/clients/json-schemas/index.ts';
import { POLICY_STATES, type ToolPolicy } from '#core/integrations/tools/index.ts';
import { present } from '../../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';

const jsonObject = z.record(z.string(), z.unknown());
const MAX_SCHEMA_LENGTH = 65_536;

const maxCallsPerRun = z
  .number()
  .int()
  .min(1)
  .max(1_000)
  .nullable()
  .meta({ description: 'The most calls of this tool in one run; null for no limit of its own.' });

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
  .meta({
    description: 'SHA-256 of the server’s latest name, title, description, schemas and annotations.',
  });

const confirmedDefinition = z
  .strictObject({
    title: z.string().nullable(),
    description: z.string().nullable(),
    inputSchema: jsonObject,
    outputSchema: jsonObject.nullable(),
    annotations: jsonObject.nullable(),
  })
  .meta({ id: 'ConfirmedDefinition' });

export const POLICY_WARNINGS = ['mixes_untrusted_and_outward', 'schema_left_out', 'definition_hash_missing'] as const;

export interface PolicyWarning {
  readonly code: (typeof POLICY_WARNINGS)[number];
  readonly message: string;
}

export const toolPolicy = z
  .strictObject({
    id: idOf('policy', EXAMPLE.policy),
    routineId: idOf('routine', EXAMPLE.routine),
    connectionId: idOf('connection', EXAMPLE.connection),
    name: z.string().meta({ description: 'Name of the tool at its server.' }),
    title: z.string().nullable(),
    description: z.string().nullable(),
    inputSchema: jsonObject,
    outputSchema: jsonObject.nullable(),
    annotations: jsonObject.nullable().meta({
      description: 'Claims of the server, such as `readOnlyHint`; they are not verified.',
    }),
    state: z.enum(POLICY_STATES).meta({
      description:
        '`automatic`: runs call the tool without asking. `hold`: each call waits for a person, see `GET /v1/actions`, unless a standing rule lets it through. `disabled`: the model is not offered it.',
    }),
    definitionHash,
    confirmedHash: z
      .string()
      .nullable()
      .meta({ description: 'Hash of the confirmed definition. It differs from `definitionHash` after a change.' }),
    confirmedDefinition: confirmedDefinition.nullable().meta({
      description:
        'The confirmed definition, when the present one differs; null when they are the same, or none is known.',
    }),
    confirmedBy: z.string().nullable().meta({ description: 'Id of the person, or of the API key, that confirmed.' }),
    confirmedAt: timestamp.nullable(),
    vanishedAt: timestamp.nullable().meta({ description: 'When a discovery first missed the tool.' }),
    maxCallsPerRun,
    argumentSchema,
    warnings: z
      .array(z.strictObject({ code: z.enum(POLICY_WARNINGS), message: z.string() }).meta({ id: 'PolicyWarning' }))
      .meta({
        description:
          'Warnings to read before confirming it. `mixes_untrusted_and_outward`: with this tool, runs read text that strangers may write, and a tool of another connection sends or changes something. `schema_left_out`, after confirmation: parts of its schemas cannot be read, so calls are checked against the rest. `definition_hash_missing`, in the response to a confirmation: the caller has not proven that they saw this definition.',
      }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'ToolPolicy' });

export const policyPatch = z
  .strictObject({
    confirmAutomaticExecution: z.boolean().optional().meta({
      description: 'True lets runs call the tool, in its present definition, without asking a person.',
    }),
    state: z.enum(POLICY_STATES).optional().meta({
      description: '`hold` confirms the present definition, as each call then waits for a person.',
    }),
    maxCallsPerRun: maxCallsPerRun.optional(),
    argumentSchema: argumentSchema.optional(),
    definitionHash: definitionHash.optional().meta({
      description:
        'Hash of the definition that you have read; if the definition has changed since, the response is 412. A confirmation without it has the warning `definition_hash_missing`, because a newer definition may be confirmed unseen.',
    }),
  })
  .meta({ id: 'UpdateToolPolicy' });

const skippedTool = z
  .strictObject({
    name: z.string().meta({ description: 'Name of the tool, or its place in the list if it has no name.' }),
    field: z.string().nullable().meta({ description: 'The field that cannot be read; null for the whole tool.' }),
    reason: z.string(),
  })
  .meta({ id: 'SkippedTool' });

export const discovery = z
  .strictObject({
    added: z.number().int(),
    changed: z.number().int(),
    vanished: z.number().int(),
    unchanged: z.number().int(),
    skipped: z.number().int().meta({ description: 'Number of tools that were left out.' }),
    skippedTools: z.array(skippedTool).meta({
      description:
        'The first 50 tools that were left out, with the reason: a field that cannot be read, an unusable or repeated name, a definition over 64 kB or with invisible characters, or an `x-mcp-header` annotation that MCP does not allow.',
    }),
    droppedFields: z.array(skippedTool).meta({
      description: 'Unreadable fields of tools that are listed without them: the first 50.',
    }),
    truncated: z.boolean().meta({
      description:
        'True when the server has more than 50 pages, 1,000 tools or 4 MB of definitions; the rest was not read.',
    }),
    circular: z.boolean().meta({
      description:
        'True when the pages of the server repeat. Its other tools are unknown, so no tool is marked as vanished.',
    }),
    tools: z.array(toolPolicy).meta({ description: 'All policies of this connection.' }),
  })
  .meta({ id: 'Discovery' });

export const discoverParams = z.strictObject({
  routineId: idOf('routine', EXAMPLE.routine),
  connectionId: idOf('connection', EXAMPLE.connection),
});

export const policyParams = z.strictObject({
  routineId: idOf('routine', EXAMPLE.routine),
  policyId: idOf('policy', EXAMPLE.policy),
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
