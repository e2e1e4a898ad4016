import { expect } from 'vitest';
import { answer, type Answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, ORGANIZATION } from '../support/frame.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const LONG = 'An assistant with a rather long name that it gave itself';
const READ = '/v1/assistant-consents/read';
const SCOPES = ['routines:read', 'routines:write', 'runs:read', 'runs:write'] as const;

test('the page of consent in all its states', async ({ api, visit }) => {
  const path = '/authorize?request=signed';
  const asks =
    (clientName: string, isVerified: boolean, ...others: Answer[]) =>
    () =>
      api.serve(
        ...FRAME,
        ...others,
        answer(
          'post',
          READ,
          sample('AskedConsent', { clientName, isVerified, redirectHost: 'example.com', scopes: [...SCOPES] }),
        ),
      );
  const late = { code: 'attempt_expired', message: 'It has expired.' };
  await photograph(visit, 'authorize', [
    { name: 'entered', path, before: asks('Helper', true), act: (page) => page.getByText('Helper').first().waitFor() },
    { name: 'unverified', path, before: asks(LONG, false), act: (page) => page.getByText(LONG).first().waitFor() },
    {
      name: 'expired',
      path,
      before: refusing(READ, 410, late),
      act: (page) => page.getByRole('heading', { name: 'This request has expired' }).waitFor(),
    },
    {
      name: 'member',
      path,
      before: asks('Helper', true, answer('get', '/v1/organizations', [{ ...ORGANIZATION, role: 'member' }])),
      async act(page) {
        await page.getByText('Only owners and admins can give write access').waitFor();
        expect(await page.getByRole('radio', { name: /^Build/ }).isDisabled()).toBe(true);
      },
    },
    { name: 'wrong', path: '/authorize?error=invalid_client&error_description=x' },
    { name: 'incomplete', path: '/authorize' },
    { name: 'loading', path, before: holding(READ), loading: true },
    {
      name: 'failed',
      path,
      before: failing(READ),
      act: (page) => page.getByRole('heading', { name: 'The request could not be read' }).waitFor(),
    },
  ]);
});

test('the settings of assistants in all their states', async ({ api, visit }) => {
  const path = `${AT}/settings?tab=assistants`;
  const listed = ['Helper', LONG].map((clientName, nth) =>
    sample('Assistant', {
      clientName,
      isVerified: nth === 0,
      createdAt: ago(90),
      lastUsedAt: nth === 0 ? ago(5) : null,
      id: `ast_01kx3k9y6wfd8r0v5m2c7t4q5${nth}`,
      scopes: ['routines:read', 'runs:read', 'runs:write'],
      grantedBy: { name: 'Ada' },
    }),
  );
  await photograph(visit, 'assistants', [
    {
      name: 'full',
      path,
      before: () => api.serve(...FRAME, answer('get', '/v1/assistants', listed)),
      act: (page) => page.getByText(LONG, { exact: true }).waitFor(),
    },
    { name: 'loading', path, before: holding('/v1/assistants'), loading: true },
    { name: 'failed', path, before: failing('/v1/assistants'), act: (page) => page.getByRole('alert').waitFor() },
    { name: 'revoke', path, act: (page) => page.getByRole('button', { name: 'Revoke Helper' }).click() },
    { name: 'empty', path, before: () => api.serve(...FRAME) },
  ]);
});
