import { z } from 'zod';
import * as routines from '#core/authoring/routines/index.ts';
import { etagOf } from '../../http/entity-tag.ts';
import { listReply } from '../../http/links.ts';
import { present } from '../../http/present.ts';
import { pageOf, pageQuery } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { etag, listed, saveErrors } from './requests.ts';
import { CHANGED_ROUTINE, routineParams } from './fields.ts';
import { presentSaved } from './present.ts';
import { savedRoutine } from './responses.ts';
import { version, versionParams, versionSummary } from './version-schemas.ts';

const route = routesOf('Routines');

const listRoutineVersions = route('GET /v1/routines/:routineId/versions', {
  id: 'listRoutineVersions',
  summary: 'List the versions of a routine',
  description: `Each material change makes a version, which never changes afterwards. A run executes the version that it was made with. The latest ${routines.KEPT_VERSIONS} are kept.`,
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params: routineParams,
  query: pageQuery('revision', {}),
  success: { data: z.array(versionSummary), description: 'Newest first.' },
}).to(async ({ access: { projectId }, params: { routineId }, query, deps }) => {
  await routines.readRoutine(deps.database, projectId, routineId);
  const page = pageOf(query);
  const found = await routines.listVersions(deps.database, { projectId, id: routineId }, page);
  const rows = found.map((row) => ({ ...row, id: String(row.revision) }));
  return listReply(rows, page, (row) => present(versionSummary, row));
});

const readRoutineVersion = route('GET /v1/routines/:routineId/versions/:revision', {
  id: 'readRoutineVersion',
  summary: 'Read a version of a routine',
  mcp: { toolset: 'authoring' },
  scope: 'routines:read',
  params: versionParams,
  success: { data: version, description: 'The version as its runs execute it.' },
}).to(async ({ access: { projectId }, params: { routineId, revision }, deps }) => {
  await routines.readRoutine(deps.database, projectId, routineId);
  const found = await routines.readVersion(deps.database, { projectId, id: routineId }, revision);
  return { data: present(version, found) };
});

const restoreRoutineVersion = route('POST /v1/routines/:routineId/versions/:revision/restore', {
  id: 'restoreRoutineVersion',
  summary: 'Restore a version of a routine',
  description: `Restores ${listed('and')} as a new revision: the routine goes back to draft and needs a fresh successful manual run. The present confirmations of tools stay. Restoring the present version changes nothing.`,
  mcp: { toolset: 'authoring', view: [...CHANGED_ROUTINE, 'warnings'] },
  scope: 'routines:write',
  params: versionParams,
  idempotent: true,
  success: { data: savedRoutine, description: 'The routine.', headers: etag },
  errors: ['routine_archived', 'definition_unreadable', ...saveErrors],
}).to(async ({ access, by, params: { routineId, revision }, deps }) => {
  const restored = await routines.restoreVersion(deps, {
    id: routineId,
    projectId: access.projectId,
    revision,
    by,
  });
  return { data: presentSaved(restored), headers: etagOf(restored.routine) };
});

export const versionRoutes: readonly Route[] = [listRoutineVersions, readRoutineVersion, restoreRoutineVersion];
