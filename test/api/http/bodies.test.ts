import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Answer } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { signUp } from '#test/support/people.ts';
import { proves } from '#test/support/proves.ts';
import { routineBody } from '#test/support/routines.ts';
import { requestBytes, sendRaw } from './raw.ts';

const MEGABYTE = 1024 * 1024;

const test = serviceTest()
  .extend('authorization', { scope: 'file' }, ({ key }) => `Authorization: ${key.headers['Authorization']}`)
  .extend(
    'post',
    ({ service, key }) =>
      async (body: string | Buffer, headers: Record<string, string> = {}): Promise<Answer> => {
        const response = await fetch(`${service.url}/v1/skills`, {
          method: 'POST',
          headers: { ...key.headers, 'Content-Type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : new Uint8Array(body),
        });
        const text = await response.text();
        const parsed = JSON.parse(text);
        return {
          status: response.status,
          headers: response.headers,
          text,
          body: parsed,
          data: parsed.data,
        };
      },
  );

test('JSON that does not parse is invalid_json, with the place', async ({ post }) => {
  for (const text of ['{', '', 'nonsense', '{"name": "x",}', "{'name': 1}", '{"a":1}{"b":2}', 'NaN']) {
    const answer = await post(text);
    expect([text, ...codeOf(answer)]).toEqual([text, 400, 'invalid_json']);
  }
  const answer = await post('{name: 1}');
  expect(answer.body.error.message).toMatch(/at position 1/);
});

test('bytes that are not UTF-8 are invalid_json', async ({ post }) => {
  const answer = await post(Buffer.from([0x22, 0xff, 0xfe, 0x22]));
  expect(codeOf(answer)).toEqual([400, 'invalid_json']);
});

test('every fault of a body is named with its path', async ({ key }) => {
  const answer = await key.post('/v1/routines', {
    name: '',
    instructions: 7,
    schedule: ['0 7 * * *'],
    model: { provider: 'unknown', modelId: '', extra: true },
    skills: 'seo-audit',
    variables: { '1x': 'a', ok: 2 },
    limits: { maxSteps: 0, timeoutSeconds: 9.5, maxTotalTokens: '9' },
    budget: { maxCostUsdPerMonth: -1 },
    overlap: 'maybe',
    webhookUrl: 5,
    nonsense: 1,
  });
  expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  const { message } = answer.body.error;
  for (const path of [
    'name',
    'instructions',
    'schedule',
    'model.provider',
    'model.modelId',
    'model.extra',
    'skills',
    'variables.1x',
    'variables.ok',
    'limits.maxSteps',
    'limits.timeoutSeconds',
    'limits.maxTotalTokens',
    'budget.maxCostUsdPerMonth',
    'overlap',
    'webhookUrl',
    'nonsense',
  ]) {
    expect(message).toContain(`${path}: `);
  }
  expect(message).toContain('nonsense: unknown field');
});

test('a missing field is required, and a body that is no object says so', async ({ key, post }) => {
  const missing = await key.post('/v1/skills', {});
  expect(missing.body.error.message).toBe('name: required; instructions: required');
  for (const body of ['[]', 'null', '"text"', '7', 'true']) {
    const answer = await post(body);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toMatch(/^body: /);
  }
});

test('an operation without a body accepts an empty object or nothing', async ({ key }) => {
  const path = '/v1/routines/rtn_01kx3k9y6wfd8r0v5m2c7t4q4c/pause';
  for (const body of [undefined, '{}', ' {} ']) {
    expect(codeOf(await key.send('POST', path, body))).toEqual([404, 'routine_not_found']);
  }
  for (const body of ['{"force":true}', '[1]', 'null']) {
    expect(codeOf(await key.send('POST', path, body))).toEqual([400, 'invalid_request']);
  }
});

test(
  'a body of 2 MB is refused, announced or in chunks, and one just under the limit is read',
  proves('limit.body'),
  async ({ service, authorization, post }) => {
    const big = JSON.stringify({ name: 'x'.repeat(2 * MEGABYTE) });
    const announced = await post(big);
    expect(codeOf(announced)).toEqual([413, 'body_too_large']);

    const before = requestBytes('POST', '/v1/skills', [
      authorization,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
    ]);
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    const chunked = await sendRaw(service.url, before + chunk.repeat(32));
    expect([chunked.status, chunked.body.error.code]).toEqual([413, 'body_too_large']);

    const wrapper = JSON.stringify({ name: '' }).length;
    const just = JSON.stringify({ name: 'x'.repeat(MEGABYTE - wrapper) });
    expect(codeOf(await post(just))).toEqual([400, 'invalid_request']);
    expect(codeOf(await post(`${just} `))).toEqual([413, 'body_too_large']);
  },
);

test('a 2 MB body to an empty-object operation and to the sign-in is refused too', async ({ service, key }) => {
  const big = JSON.stringify({ email: 'x'.repeat(2 * MEGABYTE) });
  const path = '/v1/routines/rtn_01kx3k9y6wfd8r0v5m2c7t4q4c/pause';
  expect(codeOf(await key.send('POST', path, big))).toEqual([413, 'body_too_large']);
  const signIn = service.anonymous.with({ Origin: service.config.UI_ORIGIN });
  expect(codeOf(await signIn.send('POST', '/auth/sign-in/email', big))).toEqual([413, 'body_too_large']);
});

test('an unauthenticated body is not read: the response comes before a byte of it is sent', async ({ service }) => {
  const headers = ['Content-Type: application/json', `Content-Length: ${2 * MEGABYTE}`];
  const answer = await sendRaw(service.url, requestBytes('POST', '/v1/skills', headers));
  expect([answer.status, answer.body.error.code]).toEqual([401, 'authentication_required']);
  const wrongKey = [...headers, 'Authorization: Bearer nonsense'];
  const refused = await sendRaw(service.url, requestBytes('POST', '/v1/skills', wrongKey));
  expect([refused.status, refused.body.error.code]).toEqual([401, 'invalid_api_key']);
});

test('a caller that waits for 100 Continue gets it only if the service wants the body', async ({
  service,
  authorization,
}) => {
  const headers = ['Content-Type: application/json', 'Expect: 100-continue'];
  const unknown = requestBytes('POST', '/v1/skills', [...headers, 'Content-Length: 50']);
  const refused = await sendRaw(service.url, unknown);
  expect([refused.status, refused.headers['connection']]).toEqual([401, 'close']);

  const tooLarge = [...headers, authorization, `Content-Length: ${2 * MEGABYTE}`];
  const large = await sendRaw(service.url, requestBytes('POST', '/v1/skills', tooLarge));
  expect([large.status, large.body.error.code]).toEqual([413, 'body_too_large']);

  const body = JSON.stringify({ name: 'continued', instructions: 'x'.repeat(20) });
  const taken = await sendRaw(service.url, requestBytes('POST', '/v1/skills', [...headers, authorization], body));
  expect(taken.status).toBe(201);
});

test.for([
  ['text', 'text/plain'],
  ['a form', 'application/x-www-form-urlencoded'],
  ['a multipart form', 'multipart/form-data; boundary=x'],
  ['JSON that says it is text', 'text/json'],
  ['a JSON sequence', 'application/json-seq'],
  ['another charset', 'application/json; charset=utf-16'],
  ['nothing', ''],
])('%s as the content type is 415', async ([_name, type], { service, authorization }) => {
  const body = JSON.stringify({ name: 'x', instructions: 'x'.repeat(20) });
  const line = type === '' ? [] : [`Content-Type: ${type}`];
  const bytes = requestBytes('POST', '/v1/skills', [authorization, ...line], body);
  const answer = await sendRaw(service.url, bytes);
  expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
});

test('a compressed body is 415, and so is a form to an operation that needs no body', async ({ key, post }) => {
  const gzip = gzipSync(JSON.stringify({ name: 'x', instructions: 'x'.repeat(20) }));
  const compressed = await post(gzip, { 'Content-Encoding': 'gzip' });
  expect(codeOf(compressed)).toEqual([415, 'unsupported_media_type']);
  const form = await key
    .with({ 'Content-Type': 'application/x-www-form-urlencoded' })
    .send('POST', '/v1/routines/rtn_01kx3k9y6wfd8r0v5m2c7t4q4c/run', 'a=1');
  expect(codeOf(form)).toEqual([415, 'unsupported_media_type']);
});

test('JSON with a charset or a parameter is JSON', async ({ key }) => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"', 'application/json; a=b']) {
    const body = JSON.stringify({ name: 'x', instructions: 'x'.repeat(20) });
    expect((await key.with({ 'Content-Type': type }).send('POST', '/v1/skills', body)).status).toBe(201);
  }
});

test.for([
  ['a NUL', '\\u0000', 'NUL'],
  ['a high surrogate alone', '\\ud800', 'surrogate'],
  ['a low surrogate alone', '\\udc00', 'surrogate'],
])('%s is refused by its path, wherever it stands', async ([_name, escape, word], { post }) => {
  const places: [string, string][] = [
    ['name', `{"name":"a${escape}b","instructions":"${'x'.repeat(20)}"}`],
    ['instructions', `{"name":"x","instructions":"${'x'.repeat(20)}${escape}"}`],
    ['body', `{"name":"x","instructions":"${'x'.repeat(20)}","${escape}":1}`],
    ['description[3].deep', `{"description":[0,1,2,{"deep":"${escape}"}]}`],
  ];
  for (const [path, body] of places) {
    const answer = await post(body);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain(`${path}: `);
    expect(answer.body.error.message).toContain(word);
  }
});

test('a NUL in a query, a path, a header or a sign-up is a 4xx', async ({ service, key, authorization }) => {
  const person = await signUp(service);
  for (const path of ['/v1/projects?organizationId=%00', '/v1/projects?cursor=%00', '/v1/projects?%00=1']) {
    expect([path, ...codeOf(await person.session.get(path))]).toEqual([path, 400, 'invalid_request']);
  }
  for (const path of ['/v1/routines/%00', '/v1/skills/%00', '/v1/runs/%ed%a0%80', '/v1/runs/%zz']) {
    expect([path, (await key.get(path)).status]).toEqual([path, 404]);
  }
  const header = await sendRaw(
    service.url,
    requestBytes('GET', '/v1/routines', [authorization, 'X-Project-Id: a\u0000b']),
  );
  expect(header.status).toBe(400);
  const signUpBody = '{"email":"nul@example.com","password":"correct-horse-battery","name":"a\\u0000b"}';
  const signedUp = await service.anonymous
    .with({ Origin: service.config.UI_ORIGIN })
    .send('POST', '/auth/sign-up/email', signUpBody);
  expect(signedUp.status).toBe(400);
});

test('real text of every script is kept as it was sent', async ({ key }) => {
  const name = 'Ünïcödé 漢字 🚀 \u202E العربية';
  const created = await key.post('/v1/skills', { name, instructions: `${'x'.repeat(20)}🧑‍🚀\r\n\t` });
  expect(created.status).toBe(201);
  const read = await key.get(`/v1/skills/${created.data.id}`);
  expect(read.data).toMatchObject({ name, instructions: `${'x'.repeat(20)}🧑‍🚀\r\n\t` });
});

test('prototype names are refused or are plain names, and change nothing for anyone', async ({ key }) => {
  for (const body of [
    '{"__proto__":{"polluted":1}}',
    '{"name":"x","__proto__":null}',
    '{"constructor":{"prototype":{"polluted":1}}}',
    `{"variables":{"__proto__":"x"}}`,
  ]) {
    const answer = await key.send('POST', '/v1/routines', body);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  const named = await key.post(
    '/v1/routines',
    routineBody({
      instructions: 'Say {{constructor}} and {{toString}}.',
      variables: { constructor: 'a', toString: 'b' },
    }),
  );
  expect([named.status, named.data.variables]).toEqual([201, { constructor: 'a', toString: 'b' }]);
  const inherited = await key.post('/v1/routines', routineBody({ instructions: 'Say {{valueOf}}.' }));
  expect(codeOf(inherited)).toEqual([400, 'invalid_variable']);
});

test('a body nested a hundred thousand deep is refused quickly', async ({ post }) => {
  for (const text of ['['.repeat(100_000) + ']'.repeat(100_000), '{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)]) {
    const answer = await post(text);
    expect(codeOf(answer)).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain('nested deeper than');
  }
});

test('10,000 skills are refused in one short message, and nothing is written', async ({ key }) => {
  const skills = Array.from({ length: 10_000 }, (_, index) => `skill-${index}`);
  const answer = await key.post('/v1/routines', routineBody({ name: 'many skills', skills }));
  expect(codeOf(answer)).toEqual([400, 'invalid_request']);
  expect(answer.body.error.message).toMatch(/skills: /);
  const wrong = await key.post('/v1/routines', routineBody({ skills: skills.map(() => 1) }));
  expect(codeOf(wrong)).toEqual([400, 'invalid_request']);
  expect(wrong.body.error.message.length).toBeLessThan(4_000);
  const listed = await key.get('/v1/routines');
  expect(JSON.stringify(listed.data)).not.toContain('many skills');
});

test('a query parameter that is unknown, repeated or out of bounds is named', async ({ key }) => {
  for (const [query, path] of [
    ['nonsense=1', 'nonsense'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['limit=', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=%2010', 'limit'],
    ['limit=010', 'limit'],
    ['state=asleep', 'state'],
    ['cursor=!!!', 'cursor'],
    ['__proto__=1', '__proto__'],
  ]) {
    const answer = await key.get(`/v1/routines?${query}`);
    expect([query, ...codeOf(answer)]).toEqual([query, 400, 'invalid_request']);
    expect(answer.body.error.message).toContain(path);
  }
  const none = await key.get('/v1/models?verbose=1');
  expect(codeOf(none)).toEqual([400, 'invalid_request']);
});

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body.error?.code];
}

test('a name that occurs twice in a body is refused with its place', async ({ post, key }) => {
  const twice = await post('{"name":"a","content":"\\"name\\":1","name":"b"}');
  expect(codeOf(twice)).toEqual([400, 'invalid_request']);
  expect(twice.body.error.message).toBe('name: send this name once');
  const routine = `{"name":"a","variables":{"x":"1","y":"2","x":"3"},"instructions":"Look."}`;
  const deep = await key.send('POST', '/v1/routines', routine);
  expect([deep.status, deep.body.error.message]).toEqual([400, 'variables.x: send this name once']);
});

test('a body that is nested far too deep is told so, also with a number that no double holds', async ({ post }) => {
  const deep = await post(`{"a":12345678901234567890,"b":${'['.repeat(200_000)}${']'.repeat(200_000)}}`);
  expect([...codeOf(deep), deep.body.error.message]).toEqual([
    400,
    'invalid_request',
    'body: nested deeper than 64 levels',
  ]);
});

test('a number with too many digits is refused by its place, and so is a long one where a count belongs', async ({
  key,
}) => {
  const huge = await key.send('POST', '/v1/routines', '{"name":"a","gate":{"tool":{"arguments":{"a":[1,1e5000]}}}}');
  expect([huge.status, huge.body.error.message]).toEqual([
    400,
    'gate.tool.arguments.a[1]: send an integer of more than 1000 digits as text',
  ]);
  const count = await key.send('POST', '/v1/routines', '{"name":"a","limits":{"maxSteps":12345678901234567890}}');
  expect([count.status, count.body.error.message]).toEqual([
    400,
    expect.stringContaining('limits.maxSteps: expected a number, got a number of too many digits'),
  ]);
});
