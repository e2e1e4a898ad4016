import type { Page } from 'playwright-core';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, USER } from '../support/frame.ts';
import { failing, forbidding, holding, photograph } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';
import type { Shape } from '../../../ui/src/api/types.ts';

const test = pageTest();

const PATH = `${AT}/model-accounts`;
const ACCOUNTS = '/v1/model-connections';
const AUTH = { 'provider-a': 'device_code', 'provider-b': 'oauth', 'provider-c': 'api_key' } as const;
const PROVIDERS = Object.entries(AUTH).map(([provider, authType]) =>
  sample('ModelProvider', {
    provider: provider as keyof typeof AUTH,
    authType,
    enabled: true,
    name: `Example ${provider.at(-1)}`,
    billing: 'subscription',
    terms: {
      page: 'https://example.com/terms',
      thirdPartyUse: 'allowed',
    },
    viewer: {
      canConnect: true,
      kind: 'session',
      userId: USER.id,
    },
  }),
);
const OWN = 'mcn_01kx3k9y6wfd8r0v5m2c7t4q5a';

function account(changes: object) {
  return sample('ModelConnection', {
    provider: 'provider-c',
    providerName: 'Example c',
    status: 'ready',
    modelCount: 3,
    createdAt: ago(900),
    owner: {
      id: 'own',
      name: 'Ada',
      userId: USER.id,
    },
    ...changes,
  });
}

const FULL = [
  ...FRAME,
  answer('get', '/v1/model-connections/providers', PROVIDERS),
  answer('get', ACCOUNTS, [
    account({ id: OWN, accountLabel: 'Team key' }),
    account({
      id: OWN.replace(/.$/, 'b'),
      accountLabel: 'Grace’s key',
      owner: { id: 'g', name: 'Grace', userId: 'usr_2' },
    }),
    account({ id: OWN.replace(/.$/, 'c'), accountLabel: 'Old', status: 'needs_reauthorization' }),
  ]),
  answer('get', '/v1/model-connections/{connectionId}/models', [
    { modelId: 'fixture/account-small', name: 'Account Small', contextTokens: 64_000 },
  ]),
];

function openDialog(name: string) {
  return async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: `Connect an account at Example ${name}`, exact: true }).click();
    await page.getByRole('dialog', { name: `Connect Example ${name}` }).waitFor();
  };
}

/** Makes a sign-in by device code in this state. */
function signIn(state: Shape<'DeviceSignIn'>['state']) {
  const code = { userCode: 'BCDF-GHJK', verificationUri: 'https://example.com/device', intervalSeconds: 5 };
  const common = { ...code, attemptId: 'att_01kx3k9y6wfd8r0v5m2c7t4qbk', expiresAt: ago(-10) };
  const connectionId = state === 'succeeded' ? OWN : null;
  return [
    ...FULL,
    answer(
      'post',
      '/v1/model-connections/provider-a/device/start',
      sample('DeviceSignIn', { ...common, state: 'pending' }),
    ),
    answer(
      'get',
      '/v1/model-connections/provider-a/device/{attemptId}',
      sample('DeviceSignIn', { ...common, state, connectionId }),
    ),
    answer(
      'post',
      '/v1/model-connections/provider-a/device/{attemptId}/cancel',
      sample('DeviceSignIn', { ...common, state: 'cancelled' }),
    ),
  ];
}

async function getCode(page: Page): Promise<void> {
  await openDialog('a')(page);
  await page.clock.install();
  await page.getByRole('button', { name: 'Get a code' }).click();
  await page.getByText('BCDF-GHJK').waitFor();
}

test('model accounts in all their states', async ({ api, visit }) => {
  const seen = { path: PATH };
  const open = (item: string) => async (page: Page) => {
    await page.getByRole('button', { name: 'Actions for Team key' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
  await photograph(visit, 'model-accounts', [
    {
      ...seen,
      name: 'full',
      before: () => api.serve(...FULL),
      act: (page) => page.getByText('Team key').first().waitFor(),
    },
    { ...seen, name: 'loading', before: holding(ACCOUNTS), loading: true },
    { ...seen, name: 'failed', before: failing(ACCOUNTS) },
    { ...seen, name: 'forbidden', before: forbidding(ACCOUNTS) },
    { ...seen, name: 'refused', path: `${PATH}?error=attempt_expired&requestId=6b2f0a3e` },
    { ...seen, name: 'sign-in', act: openDialog('b') },
    { ...seen, name: 'api-key', act: openDialog('c') },
    { ...seen, name: 'models', act: open('Models') },
    { ...seen, name: 'revoke', act: open('Revoke') },
    { ...seen, name: 'device-terms', act: openDialog('a') },
    {
      ...seen,
      name: 'empty',
      before: () => api.serve(...FRAME, answer('get', '/v1/model-connections/providers', PROVIDERS)),
    },
  ]);
});

test('a sign-in by device code ends on the page as it ended at the provider', async ({ api, visit }) => {
  const ends = [
    ['denied', (page: Page) => page.getByRole('alert').waitFor()],
    ['expired', (page: Page) => page.getByText('The code has run out.').waitFor()],
    ['succeeded', (page: Page) => page.getByText('The account is connected.').waitFor()],
  ] as const;
  await photograph(
    visit,
    'model-accounts',
    ends.map(([state, shown]) => ({
      name: `device-${state}`,
      path: PATH,
      before: () => api.serve(...signIn('pending')),
      async act(page) {
        await getCode(page);
        api.serve(...signIn(state));
        await page.clock.fastForward(5_000);
        await shown(page);
      },
    })),
  );
});
