import { z } from 'zod';
import { MANAGERS } from '#lib/external-keys.ts';
import { timestamp } from '#lib/schemas.ts';
import { author } from './routines/version-schemas.ts';

/** A name that a program gives to a routine or a skill. */
const externalKey = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,62}$/,
    'must be 1 to 63 lower-case letters, digits, dots, underscores or hyphens, the first a letter or digit',
  )
  .meta({
    description: 'Your own name for the resource, unique in the project. Archiving or deletion frees the name.',
    example: 'weekly-seo-audit',
  });

const managedBy = z.enum(MANAGERS).nullable().meta({
  id: 'ManagedBy',
  description: '`files` for content that is kept in files. The next `ras apply` overwrites changes made here.',
});

const managedFrom = z
  .string()
  .min(1)
  .max(63)
  .describe('Folder that keeps the resource: the `name` in the `ras.yaml` of the folder.');

/** Fields of the external name in a request that creates a routine or skill. */
export const namedFields = {
  externalKey: externalKey.nullable().default(null),
  managedBy: managedBy.default(null),
  managedFrom: managedFrom.nullable().default(null),
};

/** Fields of the external name in a patch, and in a request that puts a routine or skill under its key. */
export const putFields = { managedBy: namedFields.managedBy, managedFrom: namedFields.managedFrom };
export const renamedFields = { externalKey: externalKey.nullable(), managedBy, managedFrom: managedFrom.nullable() };

/** Fields of the external name in responses. */
export const shownName = {
  externalKey: z
    .string()
    .nullable()
    .meta({ id: 'ExternalKey', description: 'Name of the resource for programs; null without one.' }),
  managedBy,
  managedFrom: z.string().nullable().describe('Name of the folder of files that keeps the resource; null without one.'),
  driftedAt: timestamp
    .nullable()
    .describe('Time of the last change that the keeper did not make; null after the keeper writes again.'),
  driftedBy: author.nullable().describe('Author of the change in `driftedAt`; null without one.'),
};

export const keyParams = z.strictObject({ externalKey });

export const nameFilters = {
  externalKey: externalKey.optional().describe('Only the resource with this external key.'),
  managedBy: z.enum(MANAGERS).optional().describe('Only resources with this keeper.'),
};
