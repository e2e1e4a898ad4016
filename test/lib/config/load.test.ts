import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { BILLING_VARIABLES, ConfigError, loadConfig, type Role } from '#lib/config/index.ts';
import { proves } from '#test/support/proves.ts';

const KEY = randomBytes(32).toString('base64');
const good = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://localhost/ras',
  TEMPORAL_ADDRESS: 'localhost:7233',
  ENCRYPTION_KEY: KEY,
  BETTER_AUTH_SECRET: 's'.repeat(32),
  SCHEDULER_SECRET: 't'.repeat(32),
  GATEWAY_API_KEY: 'gateway-key',
  SIGN_UP: 'closed',
  TRUSTED_PROXIES: 'none',
  PUBLIC_URL: 'https://api.test',
  UI_ORIGIN: 'https://app.test',
};

function faultsOf(environment: Record<string, string>, role: Role = 'api'): readonly string[] {
  try {
    loadConfig(role, environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

test('a good environment is read with its defaults', proves('startup.switches'), () => {
  expect(loadConfig('api', good)).toMatchObject({
    PORT: 3000,
    RATE_LIMIT_PER_MINUTE: 600,
    PRODUCT_TAG: 'ras',
    BILLING_DEFAULT_PLAN: 'scale',
    COMMERCIAL_ACQUISITION_ENABLED: false,
    CHECKOUT_ENABLED: false,
    AUTOMATIC_TAX_ENABLED: false,
    MODEL_PROVIDER_A_ENABLED: false,
    MODEL_PROVIDER_B_ENABLED: false,
    MODEL_PROVIDER_C_ENABLED: false,
    FIXTURE_MODE: false,
  });
});

test('everything that is missing is named at once', () => {
  expect(faultsOf({ NODE_ENV: 'development' }).map((fault) => fault.split(':')[0])).toEqual([
    'DATABASE_URL',
    'TEMPORAL_ADDRESS',
    'ENCRYPTION_KEY',
    'BETTER_AUTH_SECRET',
  ]);
});

test('every fault is reported at once with its variable and what is expected, and never its value', () => {
  const wrong = {
    NODE_ENV: 'staging-5531',
    PORT: 'secret-port-5532',
    PUBLIC_URL: 'https://secret-5533.example/with/path',
    UI_ORIGIN: 'secret-5534',
    PRODUCT_TAG: 'Secret-5535',
    LOG_LEVEL: 'secret-5536',
    RATE_LIMIT_PER_MINUTE: '5.537',
    DATABASE_URL: 'mysql://root:secret-5538@localhost/x',
    TEMPORAL_ADDRESS: 'https://secret-5539/',
    TEMPORAL_TLS: 'secret-5540',
    ENCRYPTION_KEY: 'secret-5541',
    BETTER_AUTH_SECRET: 'secret-5542',
    SCHEDULER_SECRET: 'secret-5543',
    GATEWAY_BASE_URL: 'secret-5544',
    BILLING_DEFAULT_PLAN: 'secret-5545',
    CHECKOUT_ENABLED: 'secret-5546',
    STRIPE_SECRET_KEY: 'secret-5547',
  };
  const faults = faultsOf(wrong);
  const named = Object.keys(wrong).filter((name) => faults.some((fault) => fault.startsWith(`${name}: `)));
  expect(named).toEqual(Object.keys(wrong).filter((name) => name !== 'STRIPE_SECRET_KEY'));
  expect(faults.some((fault) => fault.includes('STRIPE_SECRET_KEY present'))).toBe(true);
  expect(faults.join('\n')).not.toMatch(/secret-|staging|5\.537/i);
  expect(faults).toHaveLength(named.length + 1);
  for (const fault of faults) expect(fault).toMatch(/expected|required|configured/);
});

test.each([
  ['of 31 bytes', randomBytes(31).toString('base64')],
  ['of 33 bytes', randomBytes(33).toString('base64')],
  ['in hex', randomBytes(32).toString('hex')],
  ['in base64url', Buffer.alloc(32, 0xfb).toString('base64url')],
  ['with a newline', `${KEY}\n`],
  ['whose last character has bits too many', `${'A'.repeat(42)}B=`],
])('an encryption key %s is refused', proves('startup.encryption-key', 'limit.secrets'), (_name, key) => {
  expect(faultsOf({ ...good, ENCRYPTION_KEY: key })).toEqual(['ENCRYPTION_KEY: expected base64 of exactly 32 bytes']);
});

test('secrets of 31 characters are refused', proves('startup.secrets', 'limit.secrets'), () => {
  const short = { BETTER_AUTH_SECRET: 'x'.repeat(31), SCHEDULER_SECRET: 'y'.repeat(31) };
  expect(faultsOf({ ...good, ...short })).toEqual([
    'BETTER_AUTH_SECRET: expected at least 32 characters',
    'SCHEDULER_SECRET: expected at least 32 characters',
  ]);
});

test(
  'production refuses fixture mode, a private network and a missing gateway key, all at once',
  proves('startup.production'),
  () => {
    const { GATEWAY_API_KEY: _key, ...without } = good;
    const local = { ...without, FIXTURE_MODE: 'true', ALLOW_PRIVATE_NETWORK: 'true' };
    for (const role of ['api', 'worker'] as const) {
      expect(faultsOf(local, role).map((fault) => fault.split(':')[0])).toEqual([
        'FIXTURE_MODE',
        'ALLOW_PRIVATE_NETWORK',
        'GATEWAY_API_KEY',
      ]);
    }
    expect(faultsOf({ ...local, NODE_ENV: 'development' })).toEqual([]);
    const { NODE_ENV: _env, ...unnamed } = local;
    expect(faultsOf(unnamed)).toHaveLength(3);
  },
);

test(
  'payment billing that is partly configured is refused with what is there and what is missing',
  proves('startup.production'),
  () => {
    const all = Object.fromEntries(BILLING_VARIABLES.map((name) => [name, `value-of-${name}`]));
    expect(faultsOf({ ...good, ...all })).toEqual([]);
    for (const missing of BILLING_VARIABLES) {
      const { [missing]: _missing, ...rest } = all;
      const [fault, ...more] = faultsOf({ ...good, ...rest });
      expect(more).toEqual([]);
      expect(fault).toBe(
        `payment billing is only partly configured: ${Object.keys(rest).join(', ')} present; ${missing} missing`,
      );
    }
  },
);

test('an empty variable counts as absent', () => {
  expect(loadConfig('api', { ...good, SCHEDULER_SECRET: '', PORT: '' })).toMatchObject({
    PORT: 3000,
  });
  expect(loadConfig('api', { ...good, SCHEDULER_SECRET: '' }).SCHEDULER_SECRET).toBeUndefined();
});

test.each(['TRUE', '1', 'yes', 'on', ' true'])('a switch is never half-read: %j is a fault', (value) => {
  expect(faultsOf({ ...good, CHECKOUT_ENABLED: value })).toEqual(['CHECKOUT_ENABLED: expected true or false']);
});

test('each process is asked only for what it uses', () => {
  const { BETTER_AUTH_SECRET: _a, SCHEDULER_SECRET: _s, ...worker } = good;
  expect(faultsOf(worker, 'worker')).toEqual([]);
  expect(faultsOf({ DATABASE_URL: good.DATABASE_URL }, 'migrate')).toEqual([]);
  expect(faultsOf(worker, 'api')).toEqual(['BETTER_AUTH_SECRET: required: at least 32 characters']);
  expect(loadConfig('worker', good)).not.toHaveProperty('BETTER_AUTH_SECRET');
});

test('builds and deployments of workers have names that Temporal takes', () => {
  const names = {
    WORKER_BUILD_ID: '2026-11-22.1+3586081',
    WORKER_DEPLOYMENT_NAME: 'routines_eu-1',
  };
  expect(loadConfig('worker', { ...good, ...names })).toMatchObject(names);
  const wrong = { WORKER_BUILD_ID: "a' OR 1=1", WORKER_DEPLOYMENT_NAME: 'routines.eu:1' };
  expect(faultsOf({ ...good, ...wrong }, 'worker').map((fault) => fault.split(':')[0])).toEqual([
    'WORKER_BUILD_ID',
    'WORKER_DEPLOYMENT_NAME',
  ]);
});

test('production has no default for who signs up, where and through which proxies, and takes https only', () => {
  const { SIGN_UP: _m, TRUSTED_PROXIES: _t, PUBLIC_URL: _u, UI_ORIGIN: _o, ...without } = good;
  expect(faultsOf(without)).toEqual([
    'SIGN_UP: required in production: open, invited or closed',
    'TRUSTED_PROXIES: required in production: the addresses or networks of the proxies in front of the API, or none',
    'PUBLIC_URL: required in production: an https origin',
    'UI_ORIGIN: required in production: an https origin',
  ]);
  const plain = { ...good, PUBLIC_URL: 'http://api.test', UI_ORIGIN: 'http://app.test' };
  expect(faultsOf(plain)).toHaveLength(2);
  expect(faultsOf({ ...without, NODE_ENV: 'development' })).toEqual([]);
  expect(faultsOf({ ...without }, 'worker')).toEqual([]);
});

test('a mail server needs a sender, and proxies are addresses and networks', () => {
  const mail = { SMTP_URL: 'smtps://user:secret@smtp.test' };
  expect(faultsOf({ ...good, ...mail })).toEqual(['MAIL_FROM: required, as SMTP_URL is set']);
  const sender = { MAIL_FROM: 'Routines <noreply@example.com>' };
  expect(faultsOf({ ...good, ...mail, ...sender })).toEqual([]);
  expect(faultsOf({ ...good, SMTP_URL: 'https://smtp.test' })).toContain(
    'SMTP_URL: expected an smtp:// or smtps:// URL',
  );
  const proxies = { TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,2001:db8::/32' };
  expect(loadConfig('api', { ...good, ...proxies }).TRUSTED_PROXIES).toHaveLength(3);
  expect(faultsOf({ ...good, TRUSTED_PROXIES: '2' })).toHaveLength(1);
  expect(loadConfig('api', good).TRUSTED_PROXIES).toEqual([]);
});

test('where everybody may sign up, production needs a mail server that confirms addresses', () => {
  const open = { ...good, SIGN_UP: 'open' };
  expect(faultsOf(open)).toEqual(['SMTP_URL: required in production, as SIGN_UP is open and addresses are confirmed']);
  const mail = { SMTP_URL: 'smtps://smtp.test', MAIL_FROM: 'noreply@example.com' };
  expect(faultsOf({ ...open, ...mail })).toEqual([]);
  expect(faultsOf({ ...open, NODE_ENV: 'development' })).toEqual([]);
});

test('no two secrets are the same, and the fault names both variables and not the secret', () => {
  const same = { ...good, SCHEDULER_SECRET: good.BETTER_AUTH_SECRET, TEMPORAL_API_KEY: KEY };
  expect(faultsOf(same)).toEqual([
    'SCHEDULER_SECRET: expected a secret of its own, not that of BETTER_AUTH_SECRET',
    'TEMPORAL_API_KEY: expected a secret of its own, not that of ENCRYPTION_KEY',
  ]);
});

const away = {
  DATABASE_URL: 'postgres://user:hidden-word@db.internal/ras',
  TEMPORAL_ADDRESS: 'temporal.internal:7233',
  GATEWAY_BASE_URL: 'http://gateway.internal/v1',
};

test('production speaks TLS to Postgres, Temporal and gateway, or is told by name where the network is private', () => {
  const faults = faultsOf({ ...good, ...away });
  expect(faults).toEqual([
    'DATABASE_URL: TLS is required in production: sslmode=verify-full, or postgres in ALLOW_PLAINTEXT_TO on a private network',
    'TEMPORAL_TLS: TLS is required in production: true, an API key or a certificate, or temporal in ALLOW_PLAINTEXT_TO on a private network',
    'GATEWAY_BASE_URL: TLS is required in production: an https address, or gateway in ALLOW_PLAINTEXT_TO on a private network',
  ]);
  expect(faultsOf({ ...good, ...away }, 'worker')).toEqual(faults);
  expect(faultsOf({ ...good, ...away, ALLOW_PLAINTEXT_TO: 'postgres' })).toEqual(faults.slice(1));
  const all = { ...good, ...away, ALLOW_PLAINTEXT_TO: 'postgres, temporal,gateway' };
  expect(faultsOf(all)).toEqual([]);
  expect(faultsOf({ ...all, ALLOW_PLAINTEXT_TO: 'everything' })).toContain(
    'ALLOW_PLAINTEXT_TO.0: expected postgres, temporal and gateway, with commas between them',
  );
  expect(faultsOf({ ...good, ...away, NODE_ENV: 'development' })).toEqual([]);
  for (const role of ['migrate', 'keys', 'billing-reconcile'] as const) {
    expect(faultsOf({ ...good, ...away }, role)[0]).toBe(faults[0]);
  }
  expect(faultsOf({ ...good, ...away }, 'deployment')).toEqual(faults.slice(0, 2));
});

test.each([
  ['postgres://db.internal/ras?sslmode=verify-full', true],
  ['postgres://db.internal/ras?sslmode=require', true],
  ['postgres://db.internal/ras?ssl=true', true],
  ['postgres://127.0.0.1:6432/ras', true],
  ['postgres://[::1]/ras', true],
  ['postgres://db.internal/ras?host=/var/run/postgresql', true],
  ['postgres://localhost/ras?host=db.internal', false],
  ['postgres://127.0.0.1.example.com/ras', false],
  ['postgres://db.internal/ras?sslmode=disable', false],
  ['postgres://db.internal/ras?sslmode=prefer', false],
  ['postgres://db.internal/ras?sslmode=no-verify', false],
  ['postgres://db.internal/ras?ssl=true&sslmode=no-verify', false],
  ['postgres://db.internal/ras?uselibpqcompat=true&sslmode=require', false],
])('the address %s is taken in production: %s', (DATABASE_URL, isTaken) => {
  expect(faultsOf({ ...good, DATABASE_URL })).toHaveLength(isTaken ? 0 : 1);
});

test.each([{ TEMPORAL_TLS: 'true' }, { TEMPORAL_API_KEY: 'temporal-key' }, { TEMPORAL_TLS_CA_FILE: '/etc/ca.pem' }])(
  'Temporal is encrypted by %j',
  (setting) => {
    const there = { ...good, TEMPORAL_ADDRESS: 'temporal.internal:7233' };
    expect(faultsOf({ ...there, ...setting })).toEqual([]);
  },
);

test('migrations are not made through a pooler in transaction mode', () => {
  const pooled = { DATABASE_URL: 'postgres://localhost:6432/ras?pgbouncer=true' };
  expect(faultsOf(pooled, 'migrate')).toEqual(['DATABASE_DIRECT_URL: required, as DATABASE_URL leads to a pooler']);
  const direct = { ...pooled, DATABASE_DIRECT_URL: 'postgres://localhost/ras' };
  expect(faultsOf(direct, 'migrate')).toEqual([]);
});
