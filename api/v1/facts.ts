import { z } from 'zod';
import * as facts from '#core/authoring/facts/index.ts';
import { AppError } from '#lib/errors.ts';
import type { ProjectAccess } from '../access.ts';
import { etagOf, versionsIn } from '../http/entity-tag.ts';
import { listReply } from '../http/links.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, decimal, idOf, pageOf, pageQuery } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { author } from './routines/version-schemas.ts';

const route = routesOf('Routines');

const text = z
  .string()
  .max(facts.MAX_FACTS)
  .meta({
    description: `Facts for all routines of the project, in any form: brand terms, margin, markets, owners, permitted claims, voice; at most ${facts.MAX_FACTS} characters, stored unchanged. Empty for none.`,
    example: 'Brand terms: Acme, Acme Cloud\nGross margin: 62 %',
  });

const projectFacts = component('ProjectFacts', {
  version: z.number().int().describe('Number of the version, which counts changes; 0 before the first.'),
  text,
  createdBy: author.nullable().describe('The author of this version.'),
  createdAt: timestamp.nullable(),
});

const lines = z.array(z.string()).describe('The first five lines, each cut at 300 characters.');

const versionShape = {
  version: z.number().int(),
  length: z.number().int().describe('Length of the text in characters.'),
  changes: component(
    'FactsChanges',
    {
      counts: z.strictObject({ added: z.number().int(), removed: z.number().int() }),
      added: lines,
      removed: lines,
    },
    {
      description:
        'Lines that only one of this and the previous version has; moved lines do not count. In the first version all lines count as added.',
    },
  ),
  createdBy: author.nullable(),
  createdAt: timestamp,
};

const versionSummary = component('FactsVersionSummary', versionShape);
const factsVersion = component('FactsVersion', {
  ...versionShape,
  text: z.string(),
  before: z
    .string()
    .nullable()
    .describe('The text of the previous version; null for the first one, and when it is no longer kept.'),
});

const params = z.strictObject({ projectId: idOf('project') });
const headers = { ETag: 'The version, for `If-Match` on PUT.' };

const readFacts = route('GET /v1/projects/:projectId/facts', {
  id: 'readFacts',
  summary: 'Read the facts of the project',
  description:
    'One text that each routine with `facts: true` gets, so that routines agree. The project is that of the key or the session.',
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params,
  success: { data: projectFacts, description: 'The newest version.', headers },
}).to(async ({ access, params: { projectId }, deps }) => {
  assertOwnProject(access, projectId);
  const found = await facts.readFacts(deps.database, projectId);
  return { data: present(projectFacts, found), headers: etagOf(found) };
});

const writeFacts = route('PUT /v1/projects/:projectId/facts', {
  id: 'writeFacts',
  summary: 'Write the facts of the project',
  description:
    'A changed text is a new version; the same text changes nothing. The next manual run of each routine with `facts: true` gets the new text. Scheduled runs of active routines keep the proven version, until the routine is activated again after a successful manual run. With `If-Match` the change is refused if someone else has changed the facts meanwhile; `"0"` expects that there are none.',
  scope: 'routines:write',
  params,
  body: component('WriteFacts', { text }),
  conditional: true,
  success: { data: projectFacts, description: 'The newest version.', headers },
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

const listFactsVersions = route('GET /v1/projects/:projectId/facts/versions', {
  id: 'listFactsVersions',
  summary: 'List the versions of the facts of the project',
  description: `The newest ${facts.KEPT_FACTS} are kept, and older ones that a routine, its proof or a kept run refers to.`,
  scope: 'routines:read',
  params,
  query: pageQuery('revision', {}),
  success: { data: z.array(versionSummary), description: 'Newest first.' },
}).to(async ({ access, params: { projectId }, query, deps }) => {
  assertOwnProject(access, projectId);
  const page = pageOf(query);
  const found = await facts.listFactsVersions(deps.database, projectId, page);
  const rows = found.map((row) => ({ ...row, id: String(row.version) }));
  return listReply(rows, page, (row) => present(versionSummary, row));
});

const readFactsVersion = route('GET /v1/projects/:projectId/facts/versions/:factsVersion', {
  id: 'readFactsVersion',
  summary: 'Read a version of the facts of the project',
  scope: 'routines:read',
  params: z.strictObject({
    ...params.shape,
    factsVersion: decimal(1, 2_147_483_647).meta({ description: 'Number of the version.', example: 1 }),
  }),
  success: { data: factsVersion, description: 'The version with its text.' },
}).to(async ({ access, params: { projectId, factsVersion: version }, deps }) => {
  assertOwnProject(access, projectId);
  const found = await facts.readFactsVersion(deps.database, projectId, version);
  return { data: present(factsVersion, found) };
});

export const factsRoutes: readonly Route[] = [readFacts, writeFacts, listFactsVersions, readFactsVersion];

function assertOwnProject(access: ProjectAccess, projectId: string): void {
  if (access.projectId !== projectId) throw new AppError('project_not_found');
}
