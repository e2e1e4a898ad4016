import { z } from 'zod';
import * as links from '#core/execution/shared-links/index.ts';
import { timestamp } from '#lib/schemas.ts';
import { present } from '../../http/present.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';
import { route, type Route } from '../../route.ts';
import { author } from '../routines/version-schemas.ts';
import { runParams } from './schemas.ts';

const tag = 'Runs';

const sharedLink = z
  .strictObject({
    id: idOf('sharedLink', EXAMPLE.sharedLink),
    runId: idOf('run', EXAMPLE.run),
    createdBy: author.nullable().meta({ description: 'Author of the link; null if the account or the key is gone.' }),
    createdAt: timestamp,
    expiresAt: timestamp,
    views: z.number().int().meta({ description: 'How often the result was read through this link.' }),
    lastSeenAt: timestamp.nullable().meta({ description: 'When the result was last read through this link.' }),
  })
  .meta({ id: 'SharedLink' });

const createSharedLink = route({
  method: 'POST',
  path: '/v1/runs/:runId/links',
  id: 'createSharedLink',
  tag,
  summary: 'Share a result by a link',
  description:
    'Everyone who has the link can read the result and its data without a sign-in, but nothing else of the run, until the link expires, is deleted, or the content of the run is erased. The project has to allow links, see `sharedLinksEnabled`. The address is in this response and nowhere else.',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:write',
  params: runParams,
  body: z
    .strictObject({
      expiresInDays: z
        .number()
        .int()
        .min(1)
        .max(links.LONGEST_DAYS)
        .default(7)
        .meta({ description: 'Days until the link ends.' }),
    })
    .meta({ id: 'CreateSharedLink' }),
  bodyOptional: true,
  idempotent: true,
  shownOnce: ['url'],
  success: {
    status: 201,
    data: z
      .strictObject({
        ...sharedLink.shape,
        url: z.string().nullable().meta({
          description: 'Address of the link, shown once; null when the response is repeated.',
          example: 'https://app.example.com/shared#jH8v…',
        }),
      })
      .meta({ id: 'CreatedSharedLink' }),
    description: 'The link with its address.',
  },
  errors: ['sharing_disabled', 'run_not_finished', 'content_erased', 'run_without_result', 'limit_reached'],
}).to(async ({ access: { projectId }, by, params: { runId }, body: { expiresInDays: days }, deps, newId }) => {
  const input = { id: newId('sharedLink'), projectId, runId, days };
  const { link, token } = await links.createSharedLink(deps.database, by, input);
  return { data: { ...present(sharedLink, link), url: `${deps.config.UI_ORIGIN}/shared#${token}` } };
});

const listSharedLinks = route({
  method: 'GET',
  path: '/v1/runs/:runId/links',
  id: 'listSharedLinks',
  tag,
  summary: 'List the links to a result',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:read',
  params: runParams,
  success: { status: 200, data: z.array(sharedLink), description: 'Links that still work, at most 20, newest first.' },
}).to(async ({ access: { projectId }, params: { runId }, deps }) => {
  const found = await links.listSharedLinks(deps.database, { projectId, runId });
  return { data: found.map((link) => present(sharedLink, link)) };
});

const deleteSharedLink = route({
  method: 'DELETE',
  path: '/v1/runs/:runId/links/:linkId',
  id: 'deleteSharedLink',
  tag,
  summary: 'End a link to a result',
  auth: 'key-or-session',
  mcp: false,
  scope: 'runs:write',
  params: runParams.extend({ linkId: idOf('sharedLink', EXAMPLE.sharedLink) }),
  success: { status: 200, data: sharedLink, description: 'The link, which shows nothing any more.' },
}).to(async ({ access: { projectId }, by, params: { runId, linkId: id }, deps }) => ({
  data: present(sharedLink, await links.deleteSharedLink(deps.database, by, { id, projectId, runId })),
}));

export const sharedLinkRoutes: readonly Route[] = [createSharedLink, listSharedLinks, deleteSharedLink];
