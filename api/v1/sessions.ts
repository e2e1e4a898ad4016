import { z } from 'zod';
import { component } from '../http/schemas.ts';
import * as identity from '#core/accounts/identity/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('Sessions');

const sessionId = z
  .string()
  .regex(/^[A-Za-z0-9]{1,64}$/)
  .meta({
    description: 'Id of the session; it is not the token in the cookie.',
    example: 'hT2mQx9vKc4Zr8wLdN6bYp1sFj7gUa0E',
  });

const session = component('Session', {
  id: sessionId,
  current: z.boolean().describe('True for the session of this request.'),
  createdAt: timestamp,
  updatedAt: timestamp.describe('Use prolongs a session about once a day.'),
  expiresAt: timestamp,
  address: z.string().nullable().describe('Address from which the person signed in.'),
  userAgent: z.string().nullable(),
});

const listSessions = route('GET /v1/sessions', {
  id: 'listSessions',
  summary: 'List your sessions',
  auth: 'session',
  success: {
    data: z.array(session).max(identity.MAX_LISTED_SESSIONS),
    description: `The latest first, at most ${identity.MAX_LISTED_SESSIONS}.`,
  },
}).to(async ({ access, deps }) => {
  const found = await identity.listSessions(deps.database, access.userId);
  return { data: found.map((row) => presentSession(row, access.sessionId)) };
});

const revokeSession = route('DELETE /v1/sessions/:sessionId', {
  id: 'revokeSession',
  summary: 'End a session',
  description: 'Takes effect with the next request. You can also end your present session.',
  auth: 'session',
  params: z.strictObject({ sessionId }),
  success: { data: session, description: 'The session that was ended.' },
}).to(async ({ access: { userId, sessionId: current }, params, deps }) => {
  const key = { userId, id: params.sessionId };
  return { data: presentSession(await identity.revokeSession(deps.database, key), current) };
});

export const sessionRoutes: readonly Route[] = [listSessions, revokeSession];

function presentSession(row: identity.ListedSession, current: string) {
  return present(session, {
    ...row,
    current: row.id === current,
    address: row.address === '' ? null : row.address,
    userAgent: row.userAgent === '' ? null : row.userAgent,
  });
}
