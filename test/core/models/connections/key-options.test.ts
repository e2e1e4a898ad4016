import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectWithKey, newOwner, startModelFixture, type ModelFixture } from './fixture.ts';

let fixture: ModelFixture;

beforeAll(async () => {
  const auth = { 'provider-c': { pattern: '^sk-opt-[a-z]+$', keyPage: 'https://example.com/own' } };
  fixture = await startModelFixture({ auth });
});
afterAll(() => fixture?.close());

test('a key that does not have the form of the file is refused before the provider hears of it', async () => {
  const { session } = await newOwner(fixture);
  const key = 'sk-opt-abcdefghij';
  fixture.providers.control.credentials.add(key);
  const { data } = await session.get('/v1/model-connections/provider-c');
  expect(data.keyPage).toBe('https://example.com/own');
  for (const other of ['sk-opt-ABC-0123456789', `${key}1`, `x${key}`]) {
    const refused = await connectWithKey(session, other);
    expect([refused.status, refused.body.error.message]).toEqual([400, 'apiKey: not a key of this provider']);
  }
  expect(fixture.providers.control.requests()).toEqual([]);
  expect((await connectWithKey(session, key)).data.status).toBe('ready');
});
