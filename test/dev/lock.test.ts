import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { withLock } from '#dev/stack/lock.ts';
import { identify } from '#dev/stack/processes.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ras-lock-'));
  path = join(folder, 'some', 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a lock file', () => {
  it('lets one in at a time, also when the work before failed', async () => {
    let inside = 0;
    let waited = 0;
    const results = await Promise.allSettled(
      [1, 2, 3].map((number) =>
        withLock(
          path,
          async () => {
            inside += 1;
            expect(inside).toBe(1);
            // The first holder leaves once both others wait.
            await expect.poll(() => waited).toBe(2);
            inside -= 1;
            if (number === 1) throw new Error('failed');
            return number;
          },
          () => (waited += 1),
        ),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(existsSync(path)).toBe(false);
  });

  it('of a process that was killed is taken over at once', async () => {
    const holder = spawn('sleep', ['100']);
    await once(holder, 'spawn');
    const token = { id: 'x', host: hostname(), holder: identify(holder.pid!) };
    await withLock(path, async () => {});
    writeFileSync(path, JSON.stringify(token));
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    // A time in the future, so that the lock is not taken over for its age.
    const inAnHour = Date.now() / 1_000 + 3_600;
    utimesSync(path, inAnHour, inAnHour);
    expect(await withLock(path, async () => 'mine')).toBe('mine');
  });

  it('that is not renewed is taken over, also from a holder on another machine', async () => {
    await withLock(path, async () => {});
    writeFileSync(path, 'of an unknown machine');
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(path, longAgo, longAgo);
    expect(await withLock(path, async () => 'mine')).toBe('mine');
  });
});
