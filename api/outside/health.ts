import { z } from 'zod';
import { row, sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
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
  description: 'Whether Postgres and Temporal can be reached.',
  auth: 'none',
  success: {
    status: 200,
    data: z
      .strictObject({ postgres: z.literal('ok'), temporal: z.literal('ok') })
      .meta({ id: 'Readiness' }),
    description: 'Both can be reached.',
  },
  errors: ['service_unavailable'],
}).to(async ({ deps }) => {
  const [postgres, temporal] = await Promise.all([
    row(deps.database, sql`select 1`).then(
      () => true,
      () => false,
    ),
    deps.engine.isHealthy(),
  ]);
  const away = [postgres ? [] : ['Postgres'], temporal ? [] : ['Temporal']].flat();
  if (away.length > 0) {
    throw new AppError('service_unavailable', `${away.join(' and ')} cannot be reached.`, {
      'Retry-After': '5',
    });
  }
  return { data: { postgres: 'ok', temporal: 'ok' } };
});

export const healthRoutes: readonly Route[] = [health, ready];
