import { z } from 'zod';
import { component } from '../http/schemas.ts';
import * as programs from '#core/accounts/programs/index.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { present } from '../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { routesOf, type Route } from '../route.ts';

const route = routesOf('API keys');

const terminal = component('TerminalSignIn', {
  host: z.string().meta({
    description: 'The name that the terminal gives itself, which proves nothing.',
    example: 'adas-laptop',
  }),
  address: z.string().describe('Address from which the request of the terminal came.'),
  createdAt: timestamp,
  expiresAt: timestamp,
});

const params = z.strictObject({
  userCode: z
    .string()
    .regex(/^[A-Za-z]{4}[- ]?[A-Za-z]{4}$/, 'must be eight letters')
    .meta({ description: 'The code that the terminal shows.', example: 'BCDF-GHJK' }),
});

const MAY_BE_GONE = ['attempt_not_found', 'attempt_expired'] as const;

const readTerminalSignIn = route('GET /v1/terminal-sign-ins/:userCode', {
  id: 'readTerminalSignIn',
  summary: 'Read which terminal asks for a key',
  description:
    'The terminal has begun a device sign-in (RFC 8628) at `POST /v1/auth/device/code`. After ten wrong codes in a quarter of an hour the response is 429.',
  auth: 'session',
  params,
  success: { data: terminal, description: 'The terminal that waits.' },
  errors: [...MAY_BE_GONE],
}).to(async ({ access, params: { userCode }, deps }) => ({
  data: present(terminal, await programs.readTerminalSignIn(deps.database, access.userId, userCode)),
}));

const approveTerminalSignIn = route('POST /v1/terminal-sign-ins/:userCode/approve', {
  id: 'approveTerminalSignIn',
  summary: 'Let a terminal have an API key',
  description:
    'Approve only a code from your own terminal. The terminal then fetches a key of this project with these scopes, named after its host, which expires after 90 days. The rules of `createApiKey` apply.',
  auth: 'project-session',
  fresh: true,
  params,
  body: z.strictObject({
    scopes: z
      .array(z.enum(SCOPES))
      .min(1)
      .max(SCOPES.length)
      .transform((scopes) => [...new Set(scopes)]),
  }),
  success: { data: terminal, description: 'The terminal may fetch its key.' },
  errors: [...MAY_BE_GONE, 'forbidden'],
}).to(async ({ access, by, params: { userCode }, body: { scopes }, deps }) => {
  const { organizationId, projectId } = access;
  const input = { userCode, organizationId, projectId, scopes };
  return {
    data: present(terminal, await programs.approveTerminalSignIn(deps.database, by, input)),
  };
});

const denyTerminalSignIn = route('POST /v1/terminal-sign-ins/:userCode/deny', {
  id: 'denyTerminalSignIn',
  summary: 'Refuse a terminal',
  auth: 'session',
  params,
  success: { data: terminal, description: 'The terminal is informed of the refusal.' },
  errors: [...MAY_BE_GONE],
}).to(async ({ access, params: { userCode }, deps }) => ({
  data: present(terminal, await programs.denyTerminalSignIn(deps.database, access.userId, userCode)),
}));

export const terminalRoutes: readonly Route[] = [readTerminalSignIn, approveTerminalSignIn, denyTerminalSignIn];
