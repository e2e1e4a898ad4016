import { z } from 'zod';
import * as digests from '#core/upkeep/digests/index.ts';
import { transaction } from '#lib/database/index.ts';
import type { Deps } from '../deps.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../http/schemas.ts';
import { routesOf, type Route } from '../route.ts';
import { scheduleFields } from '#core/authoring/definition/index.ts';
import { deliveryOf, mailDelivery } from './settings-schemas.ts';

const route = routesOf('Results');

const fields = {
  frequency: z.enum(digests.FREQUENCIES),
  weekday: z.enum(digests.WEEKDAYS).describe('The day of a weekly digest.'),
  hour: z.number().int().min(0).max(23).meta({ description: 'Hour of the day in the time zone.', example: 8 }),
  timezone: scheduleFields.timezone,
};

const digest = component(
  'Digest',
  {
    ...fields,
    nextAt: timestamp.nullable().describe('When the next digest is due; null when off.'),
    mailDelivery,
  },
  { description: 'When the caller gets the digest of a project; `off` after unsubscribing.' },
);

const params = z.strictObject({ projectId: idOf('project') });

const readDigest = route('GET /v1/projects/:projectId/digest', {
  id: 'readDigest',
  summary: 'Read the times of your digest of a project',
  auth: 'session',
  params,
  success: { data: digest, description: 'Your choice.' },
}).to(async ({ access, params: { projectId }, deps }) => {
  const { userId } = access;
  return { data: presented(await digests.readDigest(deps.database, { userId, projectId }), deps) };
});

const updateDigest = route('PATCH /v1/projects/:projectId/digest', {
  id: 'updateDigest',
  summary: 'Choose the times of your digest of a project',
  description:
    'For the caller alone. A digest has the new results and problems since the previous one. Digests that are due at the same time are one mail about all their projects. Without news there is no mail, and there are never two on one date.',
  auth: 'session',
  params,
  body: z.strictObject(fields).partial().meta({ id: 'UpdateDigest' }),
  success: { data: digest, description: 'Your choice.' },
  errors: ['invalid_timezone'],
}).to(async ({ access, params: { projectId }, body, deps }) => {
  const { userId } = access;
  const changed = await transaction(deps.database, (tx) => digests.patchDigest(tx, { userId, projectId }, body));
  return { data: presented(changed, deps) };
});

function presented(settings: digests.DigestSettings, deps: Pick<Deps, 'mailer'>) {
  return present(digest, { ...settings, mailDelivery: deliveryOf(deps) });
}

export const digestRoutes: readonly Route[] = [readDigest, updateDigest];
