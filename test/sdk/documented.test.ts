import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';

const test = serviceTest({ worker: true });

const ROOT = path.join(import.meta.dirname, '../..');

test('the blocks of docs/sdk.md, one after another, are a program that does what they say', async ({
  ada,
  service,
}) => {
  const page = await readFile(path.join(ROOT, 'docs/sdk.md'), 'utf8');
  const blocks = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, block]) => block);
  expect(blocks).toHaveLength(6);
  const folder = await mkdtemp(path.join(tmpdir(), 'sdk-page-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const script = path.join(folder, 'page.mjs');
  const source = path.join(ROOT, 'sdk/src/index.ts');
  await writeFile(script, blocks.join('').replace("'routine-automation-sdk'", `'${source}'`));
  const { headers } = await ada.key();
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: {
      RAS_API_KEY: headers['Authorization']?.replace('Bearer ', ''),
      RAS_API_URL: service.url,
    },
  });
  const lines = stdout.trim().split('\n');
  expect(lines[0]).toMatch(/^succeeded ./);
  expect(lines.filter((line) => line.startsWith('step 0: '))).toHaveLength(1);
  expect(lines).toContain('succeeded');
  expect(lines.at(-2)).toMatch(/^run_not_cancellable ./);
  expect(lines.at(-1)).toBe('Weekly report');
});
