import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { isCommonPassword } from '#core/accounts/identity/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { newEmail, PASSWORD, postAuth, signUp } from '#test/support/people.ts';
import type { Service } from '#test/support/service.ts';

const test = serviceTest();

async function refusal(service: Service, path: string, body: object, headers = {}) {
  const response = await postAuth(service, path, body, headers);
  const { error } = (await response.json()) as { error?: { code: string; message: string } };
  return [response.status, error?.code, error?.message];
}

function message(field: string): string {
  return `${field}: one of the most common passwords, which attackers try first; choose another`;
}

test('a common password is refused where one is chosen, in capitals too, and the message says why', async ({
  service,
}) => {
  const signedUp = { email: newEmail(), name: 'Eve', password: 'PassWord123' };
  expect(await refusal(service, '/auth/sign-up/email', signedUp)).toEqual([
    400,
    'invalid_request',
    message('password'),
  ]);
  const { session } = await signUp(service);
  const { Cookie = '' } = session.headers;
  const changed = { currentPassword: PASSWORD, newPassword: '1qaz2wsx3edc' };
  expect(await refusal(service, '/auth/change-password', changed, { Cookie })).toEqual([
    400,
    'invalid_request',
    message('newPassword'),
  ]);
  const reset = { newPassword: 'qwertyuiop', token: 'x' };
  expect(await refusal(service, '/auth/reset-password', reset)).toEqual([
    400,
    'invalid_request',
    message('newPassword'),
  ]);
});

test('a password that was chosen before it was common still opens', async ({ service }) => {
  const body = { email: newEmail(), password: 'password123' };
  expect((await postAuth(service, '/auth/sign-in/email', body)).status).toBe(401);
});

test('the list has ten thousand passwords that our rules would let pass, each once', () => {
  const file = new URL('../../../../lib/secrets/common-passwords.txt', import.meta.url);
  const list = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(new Set(list).size).toBe(10_000);
  expect(list.filter((text) => text.length < 10 || text !== text.toLowerCase())).toEqual([]);
  expect(list.every((text) => isCommonPassword(text.toUpperCase()))).toBe(true);
  expect(isCommonPassword('')).toBe(false);
});
