/** Entry of `npm run test:nightly`: runs its parts one after the other, even after a failure, and prints a table. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const PARTS = {
  'every test at its full size': ['vitest', 'run'],
  'a real model server': ['npm', 'run', 'test:real-model'],
  'real tool servers': ['npm', 'run', 'test:real-tools'],
  'the description of the payment API': ['npm', 'run', 'test:stripe-mock'],
  'generated clients and the Python SDK': ['npm', 'run', 'test:clients'],
} as const;

const rows: string[] = [];
for (const [part, [command, ...args]] of Object.entries(PARTS)) {
  const begun = Date.now();
  const run = spawn(command, args, { stdio: 'inherit', env: { ...process.env, TEST_SIZE: 'full' } });
  const [code] = await once(run, 'close');
  if (code !== 0) process.exitCode = 1;
  const minutes = ((Date.now() - begun) / 60_000).toFixed(1);
  rows.push(`  ${part.padEnd(36)} ${code === 0 ? 'passed' : 'FAILED'} ${minutes.padStart(6)} min`);
}
console.log(`\nNight:\n${rows.join('\n')}`);
