import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig, type Role } from '#lib/config/index.ts';

const SECRET = randomBytes(32).toString('base64');
const runtime = {
  NODE_ENV: 'production',
  MODEL_RUNTIME_SECRET: SECRET,
  MODEL_RUNTIME_CERT_FILE: '/etc/runtime/cert.pem',
  MODEL_RUNTIME_KEY_FILE: '/etc/runtime/key.pem',
  MODEL_RUNTIME_STATE_DIR: '/var/lib/runtime',
};
const api = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://localhost/ras',
  TEMPORAL_ADDRESS: 'localhost:7233',
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  BETTER_AUTH_SECRET: 's'.repeat(32),
  GATEWAY_API_KEY: 'gateway-key',
  SIGN_UP: 'closed',
  TRUSTED_PROXIES: 'none',
  PUBLIC_URL: 'https://api.test',
  UI_ORIGIN: 'https://app.test',
};

function faultsOf(role: Role, environment: Record<string, string>): readonly string[] {
  try {
    loadConfig(role, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

describe('the runtime', () => {
  test('is asked for its own part only, and takes nothing else', () => {
    const config = loadConfig('runtime', { ...runtime, DATABASE_URL: api.DATABASE_URL });
    expect(config).toMatchObject({
      MODEL_RUNTIME_HOST: '127.0.0.1',
      MODEL_RUNTIME_PORT: 8443,
      MODEL_RUNTIME_SANDBOX: 'bubblewrap',
      MODEL_STEP_TIMEOUT_SECONDS: 600,
      MODEL_PROVIDER_A_ENABLED: false,
    });
    for (const name of ['DATABASE_URL', 'ENCRYPTION_KEY', 'MODEL_PROVIDER_A_CLIENT_ID']) {
      expect(config).not.toHaveProperty(name);
    }
  });

  test('names everything that is missing at once', () => {
    expect(faultsOf('runtime', {}).map((fault) => fault.split(':')[0])).toEqual([
      'MODEL_RUNTIME_SECRET',
      'MODEL_RUNTIME_CERT_FILE',
      'MODEL_RUNTIME_KEY_FILE',
      'MODEL_RUNTIME_STATE_DIR',
    ]);
  });

  test('needs the file of each provider that is enabled', () => {
    const environment = { ...runtime, MODEL_PROVIDER_B_ENABLED: 'true' };
    expect(faultsOf('runtime', environment)).toEqual([
      'MODEL_PROVIDER_B_FILE: required, as MODEL_PROVIDER_B_ENABLED is true',
    ]);
  });

  test('refuses fixture providers and the missing sandbox in production only', () => {
    const local = {
      ...runtime,
      MODEL_PROVIDER_FAKE: 'true',
      MODEL_RUNTIME_SANDBOX: 'process',
    };
    expect(faultsOf('runtime', local)).toEqual([
      'MODEL_PROVIDER_FAKE: fixture providers are refused in production',
      'MODEL_RUNTIME_SANDBOX: process isolates nothing and is refused in production',
    ]);
    expect(faultsOf('runtime', { ...local, NODE_ENV: 'development' })).toEqual([]);
  });

  test.each([
    ['31 bytes', randomBytes(31).toString('base64')],
    ['hex', randomBytes(32).toString('hex')],
    ['base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
  ])('refuses a secret of %s', (_name, secret) => {
    expect(faultsOf('runtime', { ...runtime, MODEL_RUNTIME_SECRET: secret })).toEqual([
      'MODEL_RUNTIME_SECRET: expected base64 of exactly 32 bytes',
    ]);
  });
});

describe('API and workers', () => {
  test.each(['api', 'worker'] as const)('need no runtime while no provider is on: %s', (role) => {
    expect(faultsOf(role, api)).toEqual([]);
  });

  test('need the file, the runtime and a client once one is', () => {
    expect(faultsOf('api', { ...api, MODEL_PROVIDER_A_ENABLED: 'true' })).toEqual([
      'MODEL_PROVIDER_A_FILE: required, as MODEL_PROVIDER_A_ENABLED is true',
      'MODEL_RUNTIME_URL: required, as MODEL_PROVIDER_A_ENABLED is true',
      'MODEL_RUNTIME_SECRET: required, as MODEL_PROVIDER_A_ENABLED is true',
      'MODEL_RUNTIME_CA_FILE: required, as MODEL_PROVIDER_A_ENABLED is true',
      'MODEL_PROVIDER_A_CLIENT_ID: required, as MODEL_PROVIDER_A_ENABLED is true',
    ]);
    const complete = {
      ...api,
      MODEL_PROVIDER_C_ENABLED: 'true',
      MODEL_PROVIDER_C_FILE: '/etc/provider.yaml',
      MODEL_RUNTIME_URL: 'https://runtime.internal:8443',
      MODEL_RUNTIME_SECRET: SECRET,
      MODEL_RUNTIME_CA_FILE: '/etc/ca.pem',
    };
    expect(faultsOf('worker', complete)).toEqual([]);
    expect(faultsOf('worker', { ...complete, MODEL_RUNTIME_URL: 'http://runtime.internal' })).toEqual([
      'MODEL_RUNTIME_URL: expected an https URL',
    ]);
  });

  test('refuse fixture providers in production', () => {
    for (const role of ['api', 'worker'] as const) {
      expect(faultsOf(role, { ...api, MODEL_PROVIDER_FAKE: 'true' })).toEqual([
        'MODEL_PROVIDER_FAKE: fixture providers are refused in production',
      ]);
    }
  });
});

test('the secret of the runtime is of no other secret, on either side, and is not shown', () => {
  for (const name of ['ENCRYPTION_KEY', 'BETTER_AUTH_SECRET', 'SCHEDULER_SECRET']) {
    for (const [role, good] of [
      ['api', api],
      ['runtime', runtime],
    ] as const) {
      const faults = faultsOf(role, { ...good, [name]: SECRET, MODEL_RUNTIME_SECRET: SECRET });
      expect(faults).toEqual([`MODEL_RUNTIME_SECRET: expected a secret of its own, not that of ${name}`]);
      expect(faults.join('\n')).not.toContain(SECRET);
    }
  }
});
