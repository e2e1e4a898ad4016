import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../../..');

test('a start that is refused says its faults, and shows no trace', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['api/server.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: path.dirname(process.execPath), ENCRYPTION_KEY: 'c2hvcnQ=' },
  });
  expect([status, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(/^The configuration has \d+ fault\(s\):\n/);
  expect(stderr).toContain('ENCRYPTION_KEY: expected base64 of exactly 32 bytes');
  expect(stderr).not.toMatch(/^ +at |ConfigError|throw /m);
});
