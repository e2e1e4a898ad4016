import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, routineBody, runOnce } from '#test/support/routines.ts';

const test = serviceTest({ worker: true, own: true }).extend(
  'member',
  async ({ service }) =>
    async (owner: Person): Promise<Person> => {
      const person = await signUp(service);
      const path = `/v1/organizations/${owner.organizationId}/invitations`;
      const invited = await owner.session.post(path, { email: person.email, role: 'member' });
      await person.session.post('/v1/invitations/accept', { token: invited.data.token });
      return person;
    },
);

const UNPRICED = 'fixture/unpriced';
const PRICES = { input: '0.000002', output: '0.000004' };

function sessionOf({ session, projectId }: Person) {
  return session.with({ 'X-Project-Id': projectId });
}

test('what no list knows is entered by hand, for the whole organization and no other', async ({ service }) => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  const changed = await sessionOf(ada).patch('/v1/model-figures', {
    modelId: UNPRICED,
    maxOutputTokens: 2_048,
    prices: PRICES,
  });
  expect(changed.status).toBe(200);
  expect(changed.data).toMatchObject({
    modelId: UNPRICED,
    maxOutputTokens: 2_048,
    prices: { ...PRICES, cachedInput: null },
    figures: { contextTokens: 'list', maxOutputTokens: 'by_hand', prices: 'by_hand' },
  });
  const { data: project } = await ada.session.post('/v1/projects', {
    organizationId: ada.organizationId,
    name: 'Another',
  });
  const seenBy = async (client: typeof ada.session, modelId = UNPRICED) => {
    const { data } = await client.get('/v1/models');
    return data.find((option: { modelId: string }) => option.modelId === modelId).prices;
  };
  expect(await seenBy(ada.session.with({ 'X-Project-Id': project.id }))).not.toBeNull();
  expect(await seenBy(sessionOf(bob))).toBeNull();
});

test('a run on such a model costs what was entered, and its cost can be limited', async ({ service }) => {
  const ada = await signUp(service);
  const key = await ada.key();
  const model = { provider: 'gateway', connectionId: null, modelId: UNPRICED };
  const limited = routineBody({ model, budget: { maxCostUsdPerMonth: '1' } });
  expect((await key.post('/v1/routines', limited)).status).toBe(400);
  await sessionOf(ada).patch('/v1/model-figures', { modelId: UNPRICED, prices: PRICES });
  expect((await key.post('/v1/routines', limited)).status).toBe(201);
  const { usage } = await runOnce(key, await createRoutine(key, { model }));
  const cost = usage.inputTokens * 0.000002 + usage.outputTokens * 0.000004;
  expect(Number(usage.costUsd)).toBeCloseTo(cost, 9);
});

test('null takes a figure back, what is left out stays, and each change leaves an audit event', async ({ service }) => {
  const ada = await signUp(service);
  const session = sessionOf(ada);
  const patch = (body: object) => session.patch('/v1/model-figures', { modelId: UNPRICED, ...body });
  await patch({ maxOutputTokens: 2_048, prices: PRICES });
  const { data } = await patch({ prices: null });
  expect([data.maxOutputTokens, data.prices]).toEqual([2_048, null]);
  const events = await session.get(
    `/v1/audit-events?organizationId=${ada.organizationId}&action=model_figures.changed`,
  );
  expect(events.data).toMatchObject([
    { targetId: UNPRICED, details: { inputPrice: null, outputPrice: null } },
    {
      targetId: UNPRICED,
      details: { maxOutputTokens: 2_048, inputPrice: PRICES.input, outputPrice: PRICES.output },
    },
  ]);
});

test('a figure that the server states cannot be entered', async ({ ada }) => {
  const refused = await sessionOf(ada).patch('/v1/model-figures', {
    modelId: 'fixture/writer-small',
    contextTokens: 1_000_000,
    prices: { input: '0', output: '0' },
  });
  expect([refused.status, refused.body.error.message]).toEqual([
    400,
    'contextTokens: the model’s server states this figure, which takes precedence; prices: the model’s server states this figure, which takes precedence',
  ]);
});

test.for<[string, object]>([
  ['a window of 0', { contextTokens: 0 }],
  ['a price that is no decimal number', { prices: { input: '1e3', output: '0' } }],
  ['a price of dollars a million tokens', { prices: { input: '3.00', output: '15.00' } }],
  ['cached input above other input', { prices: { ...PRICES, cachedInput: '0.00001' } }],
])('%s is refused', async ([_what, body], { ada }) => {
  const { status } = await sessionOf(ada).patch('/v1/model-figures', {
    modelId: UNPRICED,
    ...body,
  });
  expect(status).toBe(400);
});

test('members and API keys cannot enter figures, and no model is made up', async ({ ada, member }) => {
  const body = { modelId: UNPRICED, contextTokens: 1_000 };
  const grace = await member(ada);
  const asMember = grace.session.with({ 'X-Project-Id': ada.projectId });
  const refused = await asMember.patch('/v1/model-figures', body);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
  const byKey = await (await ada.key()).patch('/v1/model-figures', body);
  expect([byKey.status, byKey.body.error.code]).toEqual([403, 'session_required']);
  const unknown = await sessionOf(ada).patch('/v1/model-figures', { ...body, modelId: 'none' });
  expect([unknown.status, unknown.body.error.code]).toEqual([400, 'invalid_model']);
});

test('where the operator limits the cost of each organization, no tenant prices itself past it', async ({
  service,
}) => {
  const ada = await signUp(service);
  await sessionOf(ada).patch('/v1/model-figures', {
    modelId: UNPRICED,
    maxOutputTokens: 512,
    prices: { input: '0', output: '0' },
  });
  const capped = await service.replica({ MAX_COST_USD_PER_ORGANIZATION: '5' });
  try {
    const client = sessionOf(ada).at(capped.url).with({ Origin: service.config.UI_ORIGIN });
    const refused = await client.patch('/v1/model-figures', {
      modelId: UNPRICED,
      prices: PRICES,
    });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden']);
    const { data } = await client.patch('/v1/model-figures', {
      modelId: UNPRICED,
      contextTokens: null,
    });
    expect([data.prices, data.maxOutputTokens]).toEqual([null, 512]);
  } finally {
    await capped.close();
  }
});
