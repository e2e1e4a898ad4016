import { afterAll, expect, test } from 'vitest';
import { withoutSettings } from '#dev/stack/environment.ts';
import { PROVIDERS } from '#dev/stack/models/servers.ts';
import { startService } from '#test/support/service.ts';
import { signUp } from '#test/support/people.ts';

const { env } = process;
const before = { ...env };
afterAll(() => {
  for (const name of Object.keys(env)) delete env[name];
  Object.assign(env, before);
});

test('a test has the fixture’s models, also when the environment names others', async () => {
  for (const { apiKeyVariable } of PROVIDERS) env[apiKeyVariable] = 'sk-real';
  Object.assign(env, { GATEWAYS_FILE: '/real.yaml', GATEWAY_BASE_URL: 'https://real.example/v1' });
  const service = await startService();
  try {
    const { session } = await signUp(service);
    const { data } = await session.get('/v1/models');
    expect(data.length).toBeGreaterThan(0);
    for (const { modelId } of data) expect(modelId).toMatch(/^fixture\//);
  } finally {
    await service.close();
  }
});

test('the processes of a benchmark get none of the settings around it', () => {
  const settings = {
    OPENAI_API_KEY: 'sk-1',
    GATEWAYS_FILE: 'real.yaml',
    DATABASE_URL: 'postgres://real',
    PORT_OFFSET: '100',
    TEMPORAL_PORT: '1',
    CONNECTION_LINEAR_CLIENT_SECRET: 's',
  };
  expect(withoutSettings({ PATH: '/bin', HOME: '/root', ...settings })).toEqual({
    PATH: '/bin',
    HOME: '/root',
  });
});
