import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { photograph, refusing } from '../support/photograph.ts';
import { ago, USER } from '../support/frame.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const FAULTS = { code: 'invalid_request', message: 'The e-mail address is none.' };
const WRONG = { code: 'invalid_credentials', message: 'The address or the password is wrong.' };

test('pages before the sign-in', async ({ api, visit }) => {
  api.serve(
    answer('get', '/public/config', sample('PublicConfig', { verifiesAddresses: true })),
    answer('post', '/auth/sign-up/email', { user: USER }),
  );
  await photograph(visit, 'accounts', [
    { name: 'sign-in', path: '/sign-in' },
    {
      name: 'sign-in-wrong',
      path: '/sign-in',
      before: refusing('/auth/sign-in/email', 401, WRONG),
      act: async (page) => {
        await page.getByLabel('E-mail').fill('ada@example.com');
        await page.getByLabel('Password').fill('not the password');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('alert').waitFor();
      },
    },
    { name: 'sign-up', path: '/sign-up' },
    {
      name: 'sign-up-faults',
      path: '/sign-up',
      before: refusing('/auth/sign-up/email', 400, FAULTS),
      act: async (page) => {
        await page.getByLabel('E-mail').fill('no address');
        await page.getByRole('button', { name: 'Create account' }).click();
        await page.getByRole('alert').first().waitFor();
      },
    },
    {
      name: 'sign-up-sent',
      holds: true,
      path: '/sign-up',
      act: async (page) => {
        await page.getByLabel('Name').fill('Ada');
        await page.getByLabel('E-mail').fill('ada@example.com');
        await page.getByLabel('Password').fill('correct-horse-battery');
        await page.getByRole('button', { name: 'Create account' }).click();
        await page.getByRole('heading', { name: 'Look into your mailbox' }).waitFor();
        // The page does not tell whether a mail was sent, because the address may already have an account.
        expect(await page.locator('body').innerText()).not.toContain('we have sent');
      },
    },
    { name: 'reset', path: '/reset-password' },
    { name: 'reset-token', path: '/reset-password#token' },
    { name: 'invitation', path: '/invitations#token' },
    { name: 'invitation-none', path: '/invitations' },
    { name: 'verified', path: '/verified' },
    { name: 'verified-late', path: '/verified?error=token_expired' },
    {
      name: 'verified-known',
      path: '/verified?email=ada%40example.com',
      act: async (page) => {
        await page.getByText('Your address is confirmed. Sign in to continue.').waitFor();
        expect(await page.getByLabel('E-mail address').inputValue()).toBe('ada@example.com');
        expect(await page.locator(':focus').getAttribute('type')).toBe('password');
      },
    },
  ]);
});

test('a shared result', async ({ api, visit }) => {
  const shared = sample('SharedResult', {
    routineName: 'Weekly price list',
    state: 'succeeded',
    result: '## Two prices rose\n\nSee [the list](https://example.com/prices).',
    data: { items: [{ id: 'oolong', price: 4 }] },
    finishedAt: ago(60),
    expiresAt: ago(-9_000),
  });
  await photograph(visit, 'shared', [
    {
      name: 'result',
      path: '/shared#token',
      before: () => api.serve(answer('post', '/public/shared-results', shared)),
      act: async (page) => {
        await page.getByRole('heading', { name: 'Two prices rose' }).waitFor();
        await page.getByRole('cell', { name: 'oolong' }).waitFor();
        expect(await page.getByRole('link', { name: 'the list' }).getAttribute('rel')).toContain('noreferrer');
      },
    },
    {
      name: 'nothing',
      path: '/shared#guessed',
      before: refusing('/public/shared-results', 404, { code: 'link_not_found', message: 'No.' }),
      act: (page) => page.getByText('This link shows no result').waitFor(),
    },
  ]);
});
