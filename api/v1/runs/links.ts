import { z } from 'zod';
import * as links from '#core/execution/shared-links/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { component, idOf } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { author } from '../routines/version-schemas.ts';
import { runParams } from './schemas.ts';

const route = routesOf('Runs');

const sharedLink = component('SharedLink', {
  id: idOf('sharedLink'),
  runId: idOf('run'),
  createdBy: author.nullable().describe('Author of the link; null if the account or the key is gone.'),
  createdAt: timestamp,
  expiresAt: timestamp,
  views: z.number().int().describe('How often the result was read through this link.'),
  lastSeenAt: timestamp.nullable().describe('When the result was last read through this link.'),
});

const createSharedLink = route('POST /v1/runs/:runId/links', {
  id: 'createSharedLink',
  summary: 'Share a result by a link',
  description:
    'Everyone who has the link can read the result and its data without a sign-in, but nothing else of the run, until the link expires, is deleted, or the content of the run is erased. The project has to allow links, see `sharedLinksEnabled`. The address is in this response and nowhere else.',
  scope: 'runs:write',
  params: runParams,
  body: component('CreateSharedLink', {
    expiresInDays: z.number().int().min(1).max(links.LONGEST_DAYS).default(7).describe('Days until the link ends.'),
  }),
  bodyOptional: true,
  idempotent: true,
  shownOnce: ['url'],
  success: {
    status: 201,
    data: component('CreatedSharedLink', {
      ...sharedLink.shape,
      url: z.string().nullable().meta({
        description: 'Address of the link, shown once; null when the response is repeated.',
        example: 'https://app.example.com/shared#jH8v…',
      }),
    }),
    description: 'The link with its address.',
  },
  errors: ['sharing_disabled', 'run_not_finished', 'content_erased', 'run_without_result', 'limit_reached'],
}).to(async ({ access: { projectId }, by, params: { runId }, body: { expiresInDays: days }, deps, newId }) => {
  const input = { id: newId('sharedLink'), projectId, runId, days };
  const { link, token } = await links.createSharedLink(deps.database, by, input);
  return { data: { ...present(sharedLink, link), url: `${deps.config.UI_ORIGIN}/shared#${token}` } };
});

const listSharedLinks = route('GET /v1/runs/:runId/links', {
  id: 'listSharedLinks',
  summary: 'List the links to a result',
  scope: 'runs:read',
  params: runParams,
  success: { data: z.array(sharedLink), description: 'Links that still work, at most 20, newest first.' },
}).to(async ({ access: { projectId }, params: { runId }, deps }) => {
  const found = await links.listSharedLinks(deps.database, { projectId, runId });
  return { data: found.map((link) => present(sharedLink, link)) };
});

const deleteSharedLink = route('DELETE /v1/runs/:runId/links/:linkId', {
  id: 'deleteSharedLink',
  summary: 'End a link to a result',
  scope: 'runs:write',
  params: runParams.extend({ linkId: idOf('sharedLink') }),
  success: { data: sharedLink, description: 'The link, which shows nothing any more.' },
}).to(async ({ access: { projectId }, by, params: { runId, linkId: id }, deps }) => ({
  data: present(sharedLink, await links.deleteSharedLink(deps.database, by, { id, projectId, runId })),
}));

export const sharedLinkRoutes: readonly Route[] = [createSharedLink, listSharedLinks, deleteSharedLink];
