import { z } from 'zod';
import { obstacles } from '#core/observability/index.ts';
import { AppError } from '#lib/errors.ts';
import { networkOf } from '../http/client-address.ts';
import { route, type Route } from '../route.ts';

const health = route({
  method: 'GET',
  path: '/health',
  id: 'health',
  tag: 'Operations',
  summary: 'Liveness',
  description: 'The process responds. That says nothing about Postgres or Temporal; see `/ready`.',
  auth: 'none',
  success: {
    status: 200,
    data: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }),
    description: 'Alive.',
  },
}).to(async () => ({ data: { status: 'ok' } }));

const ready = route({
  method: 'GET',
  path: '/ready',
  id: 'ready',
  tag: 'Operations',
  summary: 'Readiness',
  description:
    'Whether Postgres and Temporal can be reached, and the database has every migration that this release needs. One address that asks more than 120 times a minute gets what was found last, at most five seconds ago.',
  auth: 'none',
  success: {
    status: 200,
    data: z
      .strictObject({ postgres: z.literal('ok'), temporal: z.literal('ok') })
      .meta({ id: 'Readiness' }),
    description: 'Both can be reached, and the schema is new enough.',
  },
  errors: ['service_unavailable'],
}).to(async ({ by, deps }) => {
  const found = await deps.readiness(networkOf(by.address ?? ''), () => obstacles(deps));
  if (found.length > 0) {
    const text = found.join('; ');
    throw new AppError('service_unavailable', `${text.charAt(0).toUpperCase()}${text.slice(1)}.`, {
      'Retry-After': '5',
    });
  }
  return { data: { postgres: 'ok', temporal: 'ok' } };
});

export const healthRoutes: readonly Route[] = [health, ready];
