import { z } from 'zod';
import {
  ATTEMPT_STATES,
  cancelDeviceSignIn as cancel,
  pollDeviceSignIn as poll,
  SIGN_IN_FAILURES,
  startDeviceSignIn as start,
  type DeviceAttempt,
} from '#core/models/connections/index.ts';
import type { ProjectSessionAccess } from '../../access.ts';
import { present } from '../../http/present.ts';
import { timestamp } from '#lib/schemas.ts';
import { component, idOf } from '../../http/schemas.ts';
import { routesOf, type Route } from '../../route.ts';
import { modelConnectionId, SIGN_IN_ERRORS } from './schemas.ts';

const route = routesOf('Model accounts');

const attemptId = idOf('attempt');
const attemptParams = z.strictObject({ attemptId });

const deviceAttempt = component('DeviceSignIn', {
  attemptId,
  state: z.enum(ATTEMPT_STATES),
  userCode: z.string().nullable().meta({
    description: 'Code to type at `verificationUri`.',
    example: 'WDJB-MJHT',
  }),
  verificationUri: z.string().nullable(),
  verificationUriComplete: z
    .string()
    .nullable()
    .describe('The same page with the code filled in, where the provider has one.'),
  intervalSeconds: z
    .number()
    .int()
    .describe('Useful interval for polling; the service asks the provider no more often.'),
  expiresAt: timestamp,
  connectionId: modelConnectionId
    .nullable()
    .describe('The account that the attempt has connected or signed in to again.'),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

const startDeviceSignIn = route('POST /v1/model-connections/provider-a/device/start', {
  id: 'startDeviceSignIn',
  summary: 'Begin to connect an account by device code',
  description:
    'Returns a code for the person to enter at the provider (RFC 8628), and replaces their open attempt. The attempt ends at the provider’s limit, after 15 minutes at most. With `connectionId` the same account is signed in to again, and the connection keeps its id.',
  auth: 'owner-session',
  scope: 'connections:write',
  bodyOptional: true,
  body: z.strictObject({ connectionId: modelConnectionId.optional() }),
  success: {
    status: 201,
    location: '/v1/model-connections/provider-a/device/:attemptId',
    data: deviceAttempt,
    description: 'The attempt, pending.',
  },
  errors: SIGN_IN_ERRORS,
}).to(async ({ access, body, deps }) => ({
  data: presentAttempt(await start(deps, ownerOf(access), body.connectionId ?? null)),
}));

const pollDeviceSignIn = route('GET /v1/model-connections/provider-a/device/:attemptId', {
  id: 'pollDeviceSignIn',
  summary: 'Poll a device-code attempt',
  description:
    'Only for the person who began the attempt; others get 404. The provider is asked at most once in `intervalSeconds`, which grows when the provider requests that.',
  auth: 'owner-session',
  scope: 'connections:write',
  params: attemptParams,
  success: { data: deviceAttempt, description: 'The attempt.' },
  errors: ['provider_disabled', 'runtime_unavailable'],
}).to(async ({ access, by, params, deps }) => ({
  data: presentAttempt(await poll(deps, ownerOf(access), params.attemptId, by)),
}));

const cancelDeviceSignIn = route('POST /v1/model-connections/provider-a/device/:attemptId/cancel', {
  id: 'cancelDeviceSignIn',
  summary: 'Cancel a device-code attempt',
  description: 'An attempt that has ended stays as it is.',
  auth: 'owner-session',
  scope: 'connections:write',
  params: attemptParams,
  success: { data: deviceAttempt, description: 'The attempt.' },
}).to(async ({ access, params, deps }) => ({
  data: presentAttempt(await cancel(deps, ownerOf(access), params.attemptId)),
}));

export const deviceRoutes: readonly Route[] = [startDeviceSignIn, pollDeviceSignIn, cancelDeviceSignIn];

export function ownerOf({ projectId, actor }: ProjectSessionAccess) {
  return { projectId, userId: actor.userId, sessionId: actor.sessionId };
}

function presentAttempt(attempt: DeviceAttempt) {
  const { id: attemptId, error: code } = attempt;
  return present(deviceAttempt, {
    ...attempt,
    attemptId,
    intervalSeconds: attempt.intervalSeconds ?? 0,
    error: code === null ? null : { code, message: SIGN_IN_FAILURES[code][1] },
  });
}
