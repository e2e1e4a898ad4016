import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, FRAME } from '../support/frame.ts';
import { failing, holding, photograph, refusing } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const READ = /^\/v1\/terminal-sign-ins\/[^/]+$/;
const TERMINAL = { host: 'build-7.example.com', address: '203.0.113.7', createdAt: ago(1), expiresAt: ago(-9) };

test('the page of a terminal in all its states', async ({ api, visit }) => {
  api.serve(
    ...FRAME,
    answer('get', '/v1/terminal-sign-ins/{userCode}', sample('TerminalSignIn', TERMINAL)),
    answer('post', '/v1/terminal-sign-ins/{userCode}/approve', sample('TerminalSignIn', TERMINAL)),
    answer('post', '/v1/terminal-sign-ins/{userCode}/deny', sample('TerminalSignIn', TERMINAL)),
  );
  const asked = { path: '/device?user_code=BCDF-GHJK' };
  const gone = (code: string, status: number) => refusing(READ, status, { code, message: 'No terminal waits for it.' });
  await photograph(visit, 'device', [
    { name: 'enter', path: '/device' },
    { ...asked, name: 'asked', act: (page) => page.getByText('build-7.example.com').first().waitFor() },
    { ...asked, name: 'scopes', act: (page) => page.getByRole('button', { name: 'Exactly what this allows' }).click() },
    {
      ...asked,
      name: 'denied',
      act: async (page) => {
        await page.getByRole('button', { name: 'Deny' }).click();
        await page.getByText('gets no key').waitFor();
      },
    },
    { ...asked, name: 'expired', before: gone('attempt_expired', 410) },
    { ...asked, name: 'wrong', before: gone('attempt_not_found', 404) },
    { ...asked, name: 'loading', before: holding(READ), loading: true },
    { ...asked, name: 'failed', before: failing(READ), act: (page) => page.getByRole('alert').waitFor() },
  ]);
});
