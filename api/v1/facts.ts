import { z } from 'zod';
import * as facts from '#core/authoring/facts/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProjectAccess } from '../access.ts';
import { etagOf, versionsIn } from '../http/entity-tag.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { decimal, EXAMPLE, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { route, type Route } from '../route.ts';
import { author } from './routines/version-schemas.ts';

const tag = 'Routines';

const text = z
  .string()
  .max(facts.MAX_FACTS)
  .meta({
    description: `Facts for all routines of the project, in any form: brand terms, margin, markets, owners, permitted claims, voice; at most ${facts.MAX_FACTS} characters, stored unchanged. Empty for none.`,
    example: 'Brand terms: Acme, Acme Cloud\nGross margin: 62 %',
  });

const projectFacts = z
  .strictObject({
    version: z.number().int().meta({ description: 'Number of changes; 0 before the first.' }),
    text,
    createdBy: author.nullable().meta({ description: 'The author of this version.' }),
    createdAt: timestamp.nullable(),
  })
  .meta({ id: 'ProjectFacts' });

const lines = z.array(z.string()).meta({ description: 'The first five lines, each cut at 300 characters.' });

const versionShape = {
  version: z.number().int(),
  length: z.number().int().meta({ description: 'Characters of the text.' }),
  changes: z
    .strictObject({
      counts: z.strictObject({ added: z.number().int(), removed: z.number().int() }),
      added: lines,
      removed: lines,
    })
    .meta({
      id: 'FactsChanges',
      description:
        'Lines that only one of this and the previous version has; moved lines do not count. In the first version all lines count as added.',
    }),
  createdBy: author.nullable(),
  createdAt: timestamp,
};

const versionSummary = z.strictObject(versionShape).meta({ id: 'FactsVersionSummary' });
const factsVersion = z
  .strictObject({
    ...versionShape,
    text: z.string(),
    before: z.string().nullable().meta({
      description: 'The text of the previous version; null for the first one, and when it is no longer kept.',
    }),
  })
  .meta({ id: 'FactsVersion' });

const params = z.strictObject({ projectId: idOf('project', EXAMPLE.project) });
const headers = { ETag: 'The version, for `If-Match` on PUT.' };

const readFacts = route({
  method: 'GET',
  path: '/v1/projects/:projectId/facts',
  id: 'readFacts',
  tag,
  summary: 'Read the facts of the project',
  description:
    'One text that each routine with `facts: true` gets, so that routines agree. The project is that of the key or the session.',
  auth: 'key-or-session',
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params,
  success: { status: 200, data: projectFacts, description: 'The newest version.', headers },
}).to(async ({ access, params: { projectId }, deps }) => {
  assertOwnProject(access, projectId);
  const found = await facts.readFacts(deps.database, projectId);
  return { data: present(projectFacts, found), headers: etagOf(found) };
});

const writeFacts = route({
  method: 'PUT',
  path: '/v1/projects/:projectId/facts',
  id: 'writeFacts',
  tag,
  summary: 'Write the facts of the project',
  description:
    'A changed text is a new version; the same text changes nothing. The next manual run of each routine with `facts: true` gets it. Scheduled runs of active routines keep the proven version, until the routine is activated again after a successful manual run. With `If-Match` the change is refused if someone else has changed the facts meanwhile; `"0"` expects that there are none.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'routines:write',
  params,
  body: z.strictObject({ text }).meta({ id: 'WriteFacts' }),
  conditional: true,
  success: { status: 200, data: projectFacts, description: 'The newest version.', headers },
  errors: ['precondition_failed'],
}).to(async ({ access, by, params: { projectId }, body, deps, ifMatch }) => {
  assertOwnProject(access, projectId);
  const written = await facts.writeFacts(deps.database, by, {
    projectId,
    text: body.text,
    expectedVersions: versionsIn(ifMatch),
  });
  return { data: present(projectFacts, written), headers: etagOf(written) };
});

const listFactsVersions = route({
  method: 'GET',
  path: '/v1/projects/:projectId/facts/versions',
  id: 'listFactsVersions',
  tag,
  summary: 'List the versions of the facts of the project',
  description: `The newest ${facts.KEPT_FACTS} are kept, and older ones that a routine, its proof or a kept run refers to.`,
  auth: 'key-or-session',
  mcp: false,
  scope: 'routines:read',
  params,
  query: pageQuery('revision', {}),
  success: { status: 200, data: z.array(versionSummary), description: 'Newest first.' },
}).to(async ({ access, params: { projectId }, query, deps }) => {
  assertOwnProject(access, projectId);
  const page = pageOf(query);
  const found = await facts.listFactsVersions(deps.database, projectId, page);
  const rows = found.map((row) => ({ ...row, id: String(row.version) }));
  return listReply(rows, page, (row) => present(versionSummary, row));
});

const readFactsVersion = route({
  method: 'GET',
  path: '/v1/projects/:projectId/facts/versions/:factsVersion',
  id: 'readFactsVersion',
  tag,
  summary: 'Read a version of the facts of the project',
  auth: 'key-or-session',
  mcp: false,
  scope: 'routines:read',
  params: z.strictObject({
    ...params.shape,
    factsVersion: decimal(1, 2_147_483_647).meta({ description: 'Number of the version.', example: 1 }),
  }),
  success: { status: 200, data: factsVersion, description: 'The version with its text.' },
}).to(async ({ access, params: { projectId, factsVersion: version }, deps }) => {
  assertOwnProject(access, projectId);
  const found = await facts.readFactsVersion(deps.database, projectId, version);
  return { data: present(factsVersion, found) };
});

export const factsRoutes: readonly Route[] = [readFacts, writeFacts, listFactsVersions, readFactsVersion];

function assertOwnProject(access: ProjectAccess, projectId: string): void {
  if (access.projectId !== projectId) throw new AppError('project_not_found');
}
