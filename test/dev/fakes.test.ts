import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, isListening } from '#dev/stack/ports.ts';
import { firstLine } from './fixtures/first-line.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

test.for([
  ['gateway', ['GATEWAY_PORT']],
  ['providers', ['MODEL_PROVIDERS_PORT', 'MODEL_SIGN_IN_PORT']],
  ['authorization-server', ['AUTHORIZATION_SERVER_PORT']],
  ['payments', ['PAYMENTS_PORT']],
  ['mail', ['MAIL_PORT', 'MAIL_SMTP_PORT']],
] as const)('%s says where it listens, and ends when it is asked to', async ([name, variables]) => {
  const ports = new Map<string, number>();
  for (const variable of variables) ports.set(variable, await freePort());
  const fake = spawn(process.execPath, [`dev/fakes/${name}/main.ts`], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...Object.fromEntries([...ports].map(([key, port]) => [key, `${port}`])),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void fake.kill('SIGKILL'));
  expect(await firstLine(fake.stdout)).toContain(`:${ports.get(variables[0])}`);
  expect(await Promise.all([...ports.values()].map((port) => isListening(port)))).not.toContain(false);
  fake.kill('SIGTERM');
  expect(await once(fake, 'exit')).toEqual([0, null]);
});
