import { expect, onTestFinished } from 'vitest';
import type { MannerName } from '#dev/fakes/gateway/manners.ts';
import { marker, requestsWith, type Json } from '#test/core/integrations/tools/support.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';

const MODEL = { provider: 'gateway', connectionId: null, modelId: 'fixture/thinker' };

const test = serviceTest({ worker: true, own: true })
  .extend('own', async ({ service }) => (await signUp(service)).key())
  .extend('asked', ({ service }) => async (key: ApiClient, model: object, manner: MannerName = 'fixture') => {
    service.gateway.control.manner(manner);
    onTestFinished(() => service.gateway.control.manner('fixture'));
    const mark = marker();
    const id = await createRoutine(key, { instructions: `Report. ${mark}`, model });
    const run = await runOnce(key, id);
    return { id, run, bodies: requestsWith(service, mark).map(({ body }): Json => body) };
  });

test('the effort of a routine is sent with each of its steps, and nothing where it has none', async ({
  own,
  asked,
}) => {
  const with_ = await asked(own, { ...MODEL, effort: 'high' });
  expect(with_.run.state).toBe('succeeded');
  expect(with_.bodies.map(({ reasoning_effort: effort }) => effort)).toEqual(['high']);
  const without = await asked(own, MODEL);
  expect(without.bodies[0]).not.toHaveProperty('reasoning_effort');
});

test('a model that refuses the effort runs without it, and this is remembered', async ({ own, asked }) => {
  const { run, bodies } = await asked(own, { ...MODEL, effort: 'low' }, 'openai');
  expect(run.state).toBe('succeeded');
  expect(bodies.map(({ reasoning_effort: effort }) => effort)).toEqual(['low', undefined]);
  const { data: models } = await own.get('/v1/models');
  const option = models.find(({ modelId }: { modelId: string }) => modelId === MODEL.modelId);
  expect(option.abilities.effort).toBe(false);
  const body = routineBody({ model: { ...MODEL, effort: 'low' } });
  const refused = await own.post('/v1/routines', body);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('model.effort')]);
});

test('what a model has shown since blocks no other change of a routine', async ({ own, asked }) => {
  const { id } = await asked(own, { ...MODEL, effort: 'low' }, 'openai');
  expect((await own.patch(`/v1/routines/${id}`, { name: 'Another name' })).status).toBe(200);
});

test('the effort is material, is kept by versions and stands in the forecast', async ({ own }) => {
  const id = await createRoutine(own, { model: MODEL });
  expect((await own.get(`/v1/routines/${id}`)).data.model).toEqual(MODEL);
  const model = { ...MODEL, effort: 'medium' };
  const { data } = await own.patch(`/v1/routines/${id}`, { model });
  expect(data).toMatchObject({ revision: 2, model });
  expect((await own.get(`/v1/routines/${id}/versions`)).data[0].changed).toEqual(['model']);
  expect((await own.get(`/v1/routines/${id}/forecast`)).data.effort).toBe('medium');
  const { data: cleared } = await own.patch(`/v1/routines/${id}`, { model: MODEL });
  expect(cleared.model).toEqual(MODEL);
  expect((await own.get(`/v1/routines/${id}/forecast`)).data.effort).toBeNull();
});

test('an effort of another word is 400', async ({ own }) => {
  const { status } = await own.post('/v1/routines', routineBody({ model: { ...MODEL, effort: 'maximal' } }));
  expect(status).toBe(400);
});
