import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { isSecret, loadConfig, variables, type Role } from '#lib/config/index.ts';

const service = z.object({
  image: z.string(),
  build: z.object({ target: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  user: z.string(),
  read_only: z.boolean(),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
  stop_grace_period: z.string(),
  restart: z.string(),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
});
const compose = z.object({
  services: z.record(z.string(), service),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
});

const text = readFileSync(new URL('../../compose.yaml', import.meta.url), 'utf8');
const { services, secrets } = compose.parse(parse(text, { merge: true }));
const all = Object.entries(services);
/** The services of this repository, with the role of each. */
const ROLES: Record<string, Role> = {
  migrations: 'migrate',
  api: 'api',
  worker: 'worker',
  dashboard: 'ui',
  runtime: 'runtime',
};

const folder = mkdtempSync(path.join(tmpdir(), 'ras-compose-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('every image is built here or has an exact version', () => {
  for (const [name, { image, build }] of all) {
    expect([name, image]).toEqual([name, expect.stringMatching(/:\d+\.\d+(\.\d+)?(-\w+)?(@sha256:\w{64})?$/)]);
    expect([name, build !== undefined]).toEqual([name, name in ROLES]);
  }
});

test('nothing runs as root, writes to its root, has a capability, or is cut off within 45 seconds', () => {
  for (const [name, each] of all) {
    expect([name, each]).toMatchObject([
      name,
      { user: '1000:1000', read_only: true, cap_drop: ['ALL'], stop_grace_period: '45s' },
    ]);
    expect(each.security_opt).toContain('no-new-privileges:true');
  }
});

test('ports are open on this machine only, and the database and Temporal have none', () => {
  for (const [name, { ports }] of all) {
    for (const port of ports) expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)]);
  }
  expect([services['postgres']?.ports, services['temporal']?.ports]).toEqual([[], []]);
});

test('a service that stays has a health check, and one that ends is not started again', () => {
  for (const [name, { restart, healthcheck }] of all) {
    const stays = restart === 'unless-stopped';
    expect([name, stays]).toEqual([name, healthcheck !== undefined]);
  }
});

test.for(Object.entries(ROLES))('what %s is given is a configuration in production', ([name, role]) => {
  const { environment, secrets: given } = services[name]!;
  const filled = Object.entries(environment).map(([variable, value]) => {
    const known = variable in variables || isSecret(variable.replace(/_FILE$/, ''));
    expect([variable, known]).toEqual([variable, true]);
    if (!value.startsWith('/run/secrets/')) return [variable, interpolated(variable, value)];
    const secret = path.basename(value);
    expect(given).toContain(secret);
    expect(secrets).toHaveProperty(secret);
    const file = path.join(folder, secret);
    writeFileSync(file, `${sample(secret)}\n`, { mode: 0o600 });
    return [variable, file];
  });
  const config = loadConfig(role, Object.fromEntries(filled));
  expect(config).toMatchObject({ NODE_ENV: 'production' });
  // A process gets no secret that it does not read.
  const read = new Set(filled.map(([, value = '']) => path.basename(value)));
  expect(given.filter((each) => !read.has(each))).toEqual([]);
});

/** Returns a variable's value for an operator who sets only the required variables. */
function interpolated(variable: string, value: string): string {
  return value.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)\}/, (_, fallback?: string) => {
    return fallback ?? `https://${variable.toLowerCase().replaceAll('_', '-')}.test`;
  });
}

function sample(secret: string): string {
  if (secret === 'database-url') return 'postgres://ras:password@postgres:5432/ras';
  return Buffer.alloc(32, secret).toString('base64');
}
