import { CUT, formOf, json, PAGE, refuses, renewed, type Answer, type Refresh } from './answers.ts';
import type { OddCase } from './odd-case.ts';

const WORKS = { state: 'succeeded', outcome: 'done' } as const;
const BLOCKED = { state: 'failed', reason: 'blocked_connection' } as const;

/**
 * The server refuses in its own words. The second refusal with an expired token ends the sign-in, and the service stops
 * asking.
 */
const RETIRED = [
  BLOCKED,
  { ...BLOCKED, connection: 'authorization_revoked' },
  { ...BLOCKED, connection: 'authorization_revoked', refreshes: 0 },
] as const;

function refused(name: string, answer: Answer): OddCase {
  return { name: `refuses to renew with ${name}`, answers: { refreshes: [refuses(answer)] }, runs: RETIRED };
}

/** Makes the case of a server that is away for two refreshes. The run waits until the server is back. */
function away(name: string, answer: Answer): OddCase {
  const answers = { refreshes: [refuses(answer), refuses(answer), renewed()] };
  return { name: `is away with ${name}`, answers, runs: [{ ...WORKS, refreshes: 3 }] };
}

/**
 * Makes the case of a server that rotates its tokens before it sends an odd response, which must not end the sign-in.
 */
function shaped(name: string, fields: object): OddCase {
  return {
    name: `renews ${name}`,
    answers: { refreshes: [renewed(fields)] },
    runs: [{ ...WORKS, refreshes: 1 }, WORKS],
  };
}

/** Odd answers to renewals. */
export const RENEWALS: readonly OddCase[] = [
  shaped('with nulls', { scope: null, token_type: null, expires_in: null }),
  shaped('without the type of its token', { token_type: undefined }),
  shaped('with words for numbers', { expires_in: 'one hour' }),
  shaped('with fields of other types', { scope: 7, id_token: {}, token_type: ['Bearer'] }),
  shaped('for so many seconds and a unit', { expires_in: '3600s', scope: 'tools,more' }),
  shaped('with an error beside its token', { error: '', error_description: null }),
  {
    name: 'renews as a form, under the name of a text',
    answers: {
      refreshes: [
        ({ rotate }) => ({
          text: formOf(rotate()),
          type: 'text/plain',
        }),
      ],
    },
    runs: [{ ...WORKS, refreshes: 1 }, WORKS],
  },
  {
    name: 'renews as JSON, under the name of a form',
    answers: { refreshes: [({ rotate }) => ({ ...json(rotate()), type: 'application/x-www-form-urlencoded' })] },
    runs: [{ ...WORKS, refreshes: 1 }, WORKS],
  },
  {
    name: 'renews with a refresh token that is empty',
    answers: { refreshes: [({ keep }) => json({ ...keep(), refresh_token: '' })] },
    runs: [{ ...WORKS, refreshes: 1 }, WORKS],
  },
  {
    name: 'renews without another refresh token',
    answers: { refreshes: [keepsRefreshToken] },
    runs: [{ ...WORKS, refreshes: 1 }, WORKS],
  },
  refused('invalid_request', json({ error: 'invalid_request', error_description: 'refresh_token is invalid' }, 400)),
  refused('access_denied', json({ error: 'access_denied' }, 403)),
  refused('a word of its own', json({ error: 'REFRESH_TOKEN_UNKNOWN' }, 400)),
  refused('an error that is an object', json({ error: { code: 'invalid_grant', message: 'gone' } }, 400)),
  refused('a list', json(['refresh token is invalid'], 400)),
  refused('an empty 401', { status: 401, text: '' }),
  refused('a page that is not there', { ...PAGE, status: 404 }),
  refused('410', { status: 410, text: 'Gone' }),
  refused('an error in a 200', json({ code: 401, message: 'invalid refresh token' })),
  refused('ok: false in a 200', json({ ok: false, error: 'no_such_token' })),
  refused('the words of another country', {
    status: 403,
    text: 'Jeton de rafraîchissement révoqué',
    type: 'text/plain',
  }),
  refused('null', json(null, 400)),
  refused('a number', json({ error: 42, message: 'gone' }, 422)),
  refused('405', { status: 405, text: '' }),
  refused('451 and a page', { ...PAGE, status: 451 }),
  refused('a text in JSON', json('invalid_grant', 400)),
  refused('a word in capitals', json({ error: 'INVALID_GRANT' }, 400)),
  refused('an error that is null, in a 200', json({ error: null, access_token: null })),
  {
    name: 'refuses to renew with invalid_grant and status 404',
    answers: { refreshes: [refuses(json({ error: 'invalid_grant' }, 404))] },
    runs: [{ ...BLOCKED, connection: 'authorization_expired', refreshes: 1 }],
  },
  {
    name: 'refuses to renew, is away, and refuses again',
    answers: {
      refreshes: [refuses(json({}, 400)), refuses(json({}, 400)), refuses({ status: 503 }), refuses(json({}, 400))],
    },
    runs: [BLOCKED, { ...BLOCKED, connection: 'authorization_revoked' }],
  },
  {
    name: 'refuses to renew with two answers in turn',
    answers: { refreshes: [refuses(json({}, 400)), refuses(json({}, 400)), refuses(json({}, 403))] },
    runs: RETIRED,
  },
  {
    name: 'refuses to renew with invalid_grant',
    answers: { refreshes: [refuses(json({ error: 'invalid_grant' }, 400))] },
    runs: [{ ...BLOCKED, connection: 'authorization_expired', refreshes: 1 }],
  },
  {
    name: 'refuses to renew with invalid_grant and status 500',
    answers: { refreshes: [refuses(json({ error: 'invalid_grant' }, 500))] },
    runs: [{ ...BLOCKED, connection: 'authorization_expired', refreshes: 1 }],
  },
  {
    name: 'forgets the client that it has registered',
    answers: {
      registration: (client) => json({ ...client, client_secret: 's', client_secret_expires_at: 1 }, 201),
      refreshes: [refuses(json({ error: 'invalid_client' }, 401))],
    },
    runs: [{ ...BLOCKED, connection: 'authorization_expired', refreshes: 1 }],
  },
  away('500', { status: 500, text: '' }),
  away('502 and a page', { ...PAGE, status: 502 }),
  away('503', json({ error: 'unavailable' }, 503)),
  away('408', { status: 408, text: '' }),
  away('425', { status: 425, text: '' }),
  away('429', json({ error: 'rate_limited' }, 429)),
  away('temporarily_unavailable', json({ error: 'temporarily_unavailable' }, 400)),
  away('a page and status 200', PAGE),
  away('a response of 2 MB', json({ access_token: 'x', pad: 'x'.repeat(2 ** 21) })),
  {
    name: 'loses its response after it has rotated, and has a grace period',
    answers: { hasGrace: true, refreshes: [rotatesAndBreaks, renewed()] },
    runs: [{ ...WORKS, refreshes: 2 }, WORKS],
  },
  {
    name: 'loses its response in the middle, after it has rotated, and has a grace period',
    answers: { hasGrace: true, refreshes: [rotatesAndStops, renewed()] },
    runs: [{ ...WORKS, refreshes: 2 }, WORKS],
  },
  {
    name: 'wants the scope with a refresh',
    answers: { refreshes: [wantsScope] },
    runs: [{ ...WORKS, refreshes: 2 }, WORKS],
  },
  {
    name: 'takes no token that it has renewed, and says so with 403',
    answers: { refusesRenewed: true, refusalStatus: 403 },
    runs: [
      {
        state: 'succeeded',
        outcome: 'partial',
        warnings: ['tools_failed'],
        refreshes: 2,
        connection: 'authorization_revoked',
      },
      { ...BLOCKED, connection: 'authorization_revoked', refreshes: 0 },
    ],
  },
  {
    name: 'takes no token that it has renewed',
    answers: { refusesRenewed: true },
    runs: [
      {
        state: 'succeeded',
        outcome: 'partial',
        warnings: ['tools_failed'],
        refreshes: 2,
        connection: 'authorization_revoked',
      },
      { ...BLOCKED, connection: 'authorization_revoked', refreshes: 0 },
    ],
  },
];

function keepsRefreshToken({ keep }: Refresh): Answer {
  return json({ ...keep(), refresh_token: null });
}

function rotatesAndBreaks({ rotate }: Refresh): typeof CUT {
  rotate();
  return CUT;
}

function rotatesAndStops({ rotate }: Refresh): Answer {
  return { ...json(rotate()), isCut: true };
}

function wantsScope({ parameters, rotate }: Refresh): Answer {
  if (parameters.get('scope') === 'tools') return json(rotate());
  return json({ error: 'invalid_request', error_description: 'scope is required' }, 400);
}
