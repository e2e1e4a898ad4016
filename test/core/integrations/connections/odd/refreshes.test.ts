import { expect, test } from 'vitest';
import { refreshTokens, TokenError } from '#core/clients/oauth/index.ts';
import { endsSignIn } from '#lib/shared-renewal.ts';
import { OutboundError } from '#lib/outbound/index.ts';

const TOKENS = { access_token: 'access', expires_in: 3600 };
const REFUSAL = [400, { error: 'invalid_request' }] as const;

/** Refreshes at an address, and returns the scopes of the requests and the outcome. */
async function refresh(url: string, answers: readonly (readonly [number, object] | Error)[], scope = 'read write') {
  const scopes: (string | null)[] = [];
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    scopes.push(new URLSearchParams(typeof init?.body === 'string' ? init.body : '').get('scope'));
    const answer = answers[scopes.length - 1] ?? [500, {}];
    if (answer instanceof Error) throw answer;
    return Response.json(answer[1], { status: answer[0] });
  };
  const deps = { outbound: { fetchWithin: () => fetch }, log: { warn: () => undefined } };
  const endpoint = { url, client: { id: 'client' }, authMethods: [] };
  const outcome = await refreshTokens(deps, endpoint, { refreshToken: 'token', scope, repeatsLost: true }).then(
    ({ accessToken }) => accessToken,
    (error: unknown) => (error instanceof TokenError ? `${error.kind} ${error.answer}` : error),
  );
  return { scopes, outcome };
}

test.for(['login.microsoftonline.com', 'login.microsoftonline.us', 'login.partner.microsoftonline.cn'])(
  'Entra at %s is sent the granted scope at once',
  async (host) => {
    const { scopes, outcome } = await refresh(`https://${host}/tenant/oauth2/v2.0/token`, [[200, TOKENS]]);
    expect([scopes, outcome]).toEqual([['read write'], 'access']);
  },
);

test('others are sent it once they have refused the request without it, and their second answer counts', async () => {
  const url = 'https://login.microsoftonline.com.example/token';
  const granted = await refresh(url, [REFUSAL, [200, TOKENS]]);
  expect(granted).toEqual({ scopes: [null, 'read write'], outcome: 'access' });
  const refused = await refresh(url, [REFUSAL, [403, { error: 'access_denied' }]]);
  expect(refused).toEqual({ scopes: [null, 'read write'], outcome: 'answered 403 access_denied' });
  // Without a known scope, or after an answer that the grant is over, the service does not ask again.
  expect(await refresh(url, [REFUSAL], '')).toEqual({ scopes: [null], outcome: 'answered 400 invalid_request' });
  const over = await refresh(url, [[400, { error: 'invalid_grant' }]]);
  expect(over).toEqual({ scopes: [null], outcome: 'refused 400 invalid_grant' });
});

test('a response that is lost is asked for once more, and no other fault is', async () => {
  const url = 'https://issuer.example/token';
  const lost = new OutboundError('protocol_error', 'no complete HTTP answer');
  expect((await refresh(url, [lost, [200, TOKENS]])).outcome).toBe('access');
  expect(await refresh(url, [lost, lost, [200, TOKENS]])).toMatchObject({ outcome: 'unknown protocol_error' });
  for (const code of ['timeout', 'response_too_large', 'connect_failed'] as const) {
    const { scopes, outcome } = await refresh(url, [new OutboundError(code, 'no answer'), [200, TOKENS]]);
    expect([scopes.length, outcome]).toEqual([1, `${code === 'connect_failed' ? 'away' : 'unknown'} ${code}`]);
  }
});

const EARLIER = { answer: '400 other', count: 2, sinceSeconds: 600, agoSeconds: 300, last: '' };

test.for([
  ['the first refusal', null, false, false],
  ['the first one of an expired credential', null, true, false],
  ['the second one of an expired credential', { ...EARLIER, count: 1, sinceSeconds: 1 }, true, true],
  ['the second one of an expired credential with another answer', { ...EARLIER, answer: '403 other' }, true, true],
  ['the second one', { ...EARLIER, count: 1 }, false, false],
  ['the third one in ten minutes', EARLIER, false, true],
  ['the third one in less', { ...EARLIER, sinceSeconds: 599 }, false, false],
  ['the third one with another answer', { ...EARLIER, answer: '403 other' }, false, false],
] as const)('%s: %o, expired %s, ends the sign-in: %s', ([, earlier, expired, ends]) => {
  expect(endsSignIn(earlier, '400 other', { expired })).toBe(ends);
});
