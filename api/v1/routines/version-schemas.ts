import { z } from 'zod';
import {
  VERSION_FIELDS,
  type Version,
  type VersionAuthor,
  type VersionSummary,
} from '#core/routines/index.ts';
import { decimal, EXAMPLE, idOf, iso, timestamp } from '../../http/schemas.ts';
import { presentCheck } from './checks.ts';
import { presentGate } from './gate-schema.ts';
import { presentKey, presentLimits, presentModel } from './present.ts';
import { shape } from './responses.ts';

export const author = z
  .strictObject({
    kind: z.enum(['person', 'key']),
    id: z.string(),
    name: z.string().nullable().meta({
      description: 'As it is now; null for an account or key that is gone.',
      example: 'Ada Lovelace',
    }),
  })
  .meta({ id: 'RoutineVersionAuthor' });

const summary = {
  revision: z.number().int(),
  createdAt: timestamp,
  createdBy: author.nullable().meta({
    description:
      'The person or the API key that made it; null when the service did, or when it is not on record.',
  }),
  restoredFrom: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The revision that it took over again.' }),
  changed: z.array(z.enum(VERSION_FIELDS)).meta({
    description: 'What differs from the revision before; empty for the first one on record.',
    example: ['instructions'],
  }),
};

export const versionSummary = z.strictObject(summary).meta({ id: 'RoutineVersionSummary' });

const tool = z
  .strictObject({
    connectionId: idOf('connection', EXAMPLE.connection),
    name: z.string(),
    definitionHash: z
      .string()
      .nullable()
      .meta({ description: 'Of the definition that was confirmed.' }),
    maxCallsPerRun: z.number().int().nullable(),
    argumentSchemaHash: z
      .string()
      .nullable()
      .meta({ description: 'Changes with the argument schema; null without one.' }),
  })
  .meta({ id: 'RoutineVersionTool' });

export const version = z
  .strictObject({
    ...summary,
    routineId: shape.id,
    instructions: shape.instructions,
    variables: shape.variables,
    overridable: shape.overridable,
    model: shape.model,
    skills: shape.skills,
    limits: shape.limits,
    carryResult: shape.carryResult,
    builtInTools: shape.builtInTools,
    outcome: shape.outcome,
    checks: shape.checks,
    gate: shape.gate,
    resultSchema: shape.resultSchema,
    resultKey: shape.resultKey,
    tools: z
      .array(tool)
      .meta({ description: 'The tools that were automatic; restoring does not change them.' }),
  })
  .meta({ id: 'RoutineVersion' });

export const versionParams = z.strictObject({
  routineId: idOf('routine', EXAMPLE.routine),
  revision: decimal(1, 2_147_483_647).meta({ description: 'Revision of the routine.', example: 1 }),
});

export function presentSummary(row: VersionSummary) {
  return {
    revision: row.revision,
    createdAt: iso(row.createdAt),
    createdBy: row.createdBy === null ? null : presentAuthor(row.createdBy),
    restoredFrom: row.restoredFrom,
    changed: [...row.changed],
  };
}

export function presentAuthor({ kind, id, name }: VersionAuthor) {
  return { kind, id, name };
}

export function presentVersion(row: Version) {
  return {
    ...presentSummary(row),
    routineId: row.routineId,
    instructions: row.instructions,
    variables: { ...row.variables },
    overridable: row.overridable === null ? null : [...row.overridable],
    model: presentModel(row.model),
    skills: [...row.skills],
    limits: presentLimits(row.limits),
    carryResult: row.carryResult,
    builtInTools: [...row.builtInTools],
    outcome: row.outcome,
    checks: row.checks.map(presentCheck),
    gate: presentGate(row.gate),
    resultSchema: row.resultSchema,
    resultKey: presentKey(row.resultKey),
    tools: row.tools.map((tool) => ({
      connectionId: tool.connectionId,
      name: tool.name,
      definitionHash: tool.definitionHash,
      maxCallsPerRun: tool.maxCallsPerRun,
      argumentSchemaHash: tool.argumentSchemaHash,
    })),
  };
}
