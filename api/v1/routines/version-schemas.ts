import { z } from 'zod';
import { DEFINITION, VERSION_FIELDS, type Fields } from '#core/authoring/definition/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, decimal, idOf } from '../../http/schemas.ts';
import { responseFields } from './fields.ts';

export const author = component('RoutineVersionAuthor', {
  kind: z.enum(['person', 'key']),
  id: z.string(),
  name: z.string().nullable().meta({
    description: 'Present name; null for a deleted account or key.',
    example: 'Ada Lovelace',
  }),
});

const summary = {
  revision: z.number().int(),
  createdAt: timestamp,
  createdBy: author
    .nullable()
    .describe(
      'The person or the API key that made the version; null when the service made it, or the author is unknown.',
    ),
  restoredFrom: z.number().int().nullable().describe('The earlier revision that this version restored.'),
  changed: z.array(z.enum(VERSION_FIELDS)).meta({
    description: 'Differences from the revision before; empty for the first one on record.',
    example: ['instructions'],
  }),
};

export const versionSummary = component('RoutineVersionSummary', summary);

const tool = component('RoutineVersionTool', {
  connectionId: idOf('connection'),
  name: z.string(),
  definitionHash: z.string().nullable().describe('Hash of the confirmed definition.'),
  maxCallsPerRun: z.number().int().nullable(),
  argumentSchemaHash: z
    .string()
    .nullable()
    .describe('A hash that changes with the argument schema; null without a schema.'),
  held: z.boolean().optional().describe('True if each call of the tool waits for a person.'),
});

/** A version of a definition with these fields. */
export function versionWith<T extends Fields>(definition: T) {
  return component('RoutineVersion', {
    ...summary,
    routineId: idOf('routine'),
    ...responseFields(definition),
    tools: z.array(tool).describe('The tools that were automatic; restoring does not change them.'),
  });
}

export const version = versionWith(DEFINITION);

export const versionParams = z.strictObject({
  routineId: idOf('routine'),
  revision: decimal(-2_147_483_648, 2_147_483_647).meta({
    description: 'Revision of the routine; below zero for a proposal.',
    example: 1,
  }),
});
