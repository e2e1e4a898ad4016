import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pino } from 'pino';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createJournal, KEEP_IDS_MS, KEEP_RESULTS_MS, keepPruned } from '#runtime/state/journal.ts';
import { createLease, LEASE_MS } from '#runtime/state/lease.ts';
import { openState } from '#runtime/state/open-state.ts';
import { proves } from '#test/support/proves.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ras-runtime-'));
  return () => rmSync(folder, { recursive: true, force: true });
});

function open() {
  const state = openState(folder);
  onTestFinished(() => {
    try {
      state.close();
    } catch {
      // The test has already closed it.
    }
  });
  return state;
}

describe('the state folder', () => {
  test('is for one runtime at a time', proves('limit.runtime'), () => {
    const first = open();
    expect(() => openState(folder)).toThrow('another runtime is using this folder');
    first.close();
    expect(open().instanceId).toBe(first.instanceId);
  });

  test('is free again when its runtime was killed, with everything that was accepted', async () => {
    const script = `
      import { openState } from ${JSON.stringify(path.resolve('runtime/state/open-state.ts'))};
      const { journal, epoch, instanceId } = openState(${JSON.stringify(folder)});
      journal.accept('call-1', 'hash');
      epoch.raise(7);
      console.log(instanceId);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    expect(() => openState(folder)).toThrow('another runtime');
    child.kill('SIGKILL');
    await once(child, 'exit');
    const state = open();
    expect(state.instanceId).toBe(String(said).trim());
    expect(state.epoch.current()).toBe(7);
    expect(state.journal.find('call-1')).toEqual({
      bodyHash: 'hash',
      state: 'accepted',
      sealed: undefined,
    });
  });

  test('can be read by its owner only, or is refused', () => {
    open().close();
    expect(statSync(path.join(folder, 'journal.db')).mode & 0o777).toBe(0o600);
    chmodSync(folder, 0o750);
    expect(() => openState(folder)).toThrow('mode 0700');
  });

  test('holds ids and hashes, and of results only what was sealed', () => {
    const state = open();
    const { journal } = state;
    journal.accept('call-1', 'hash');
    journal.finish('call-1', 'sealed-text');
    expect(journal.find('call-1')).toEqual({
      bodyHash: 'hash',
      state: 'finished',
      sealed: 'sealed-text',
    });
    state.close();
    const kept = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'latin1'));
    expect(kept.join('')).toContain('sealed-text');
  });
});

describe('the journal', () => {
  test('keeps results for an hour and ids for 25', () => {
    open().close();
    const database = new DatabaseSync(path.join(folder, 'journal.db'));
    let now = 1_800_000_000_000;
    const journal = createJournal(database, { now: () => now });
    journal.accept('old', 'h');
    journal.finish('old', 'result');
    journal.prune();
    expect(journal.find('old')).toMatchObject({ sealed: 'result' });
    now += KEEP_RESULTS_MS + 1;
    journal.prune();
    expect(journal.find('old')).toEqual({ bodyHash: 'h', state: 'finished', sealed: undefined });
    now += KEEP_IDS_MS - KEEP_RESULTS_MS - 2;
    journal.prune();
    expect(journal.find('old')).toBeDefined();
    now += 2;
    journal.prune();
    expect(journal.find('old')).toBeUndefined();
    database.close();
  });

  test('drops the oldest results first when they are too many', () => {
    open().close();
    const database = new DatabaseSync(path.join(folder, 'journal.db'));
    let now = 1_800_000_000_000;
    const journal = createJournal(database, { now: () => now, maxResultBytes: 4_000 });
    const large = 'x'.repeat(1_000);
    for (const id of ['1', '2', '3', '4', '5']) {
      now += 1;
      journal.accept(id, 'h');
      journal.finish(id, large);
    }
    journal.prune();
    const kept = ['1', '2', '3', '4', '5'].map((id) => journal.find(id)?.sealed !== undefined);
    expect(kept).toEqual([false, true, true, true, true]);
    database.close();
  });

  test('that cannot be written, as on a full disk, does not end the runtime, and is pruned once it can be', async () => {
    open().close();
    const database = new DatabaseSync(path.join(folder, 'journal.db'));
    let now = 1_800_000_000_000;
    const journal = createJournal(database, { now: () => now });
    journal.accept('old', 'h');
    now += KEEP_IDS_MS + 1;
    database.exec('pragma query_only = on');
    const lines: string[] = [];
    const stop = keepPruned(journal, pino({}, { write: (line) => lines.push(line) }), 5);
    await expect.poll(() => lines.length).toBeGreaterThan(2);
    expect(lines[0]).toContain('old calls were not deleted');
    database.exec('pragma query_only = off');
    await expect.poll(() => journal.find('old')).toBeUndefined();
    stop();
    database.close();
  });
});

describe('the lease', () => {
  function leaseAt(epoch: number) {
    const state = open();
    state.epoch.raise(epoch);
    const lost: number[] = [];
    const clock = { now: 0 };
    const lease = createLease(state.epoch, (below) => lost.push(below), { now: () => clock.now });
    onTestFinished(() => lease.close());
    return { lease, lost, clock, state };
  }

  test('a lower epoch is refused, the same one renews the lease, and a higher one ends earlier calls', () => {
    const { lease, lost, state } = leaseAt(5);
    expect(lease.renew(4)).toBe(false);
    expect(lease.renew(5)).toBe(true);
    expect(lost).toEqual([]);
    expect(lease.renew(6)).toBe(true);
    expect(lost).toEqual([6]);
    expect([lease.holds(5), lease.holds(6)]).toEqual([false, true]);
    expect(state.epoch.current()).toBe(6);
  });

  test('without another envelope for 30 seconds it is over', () => {
    const { lease, lost, clock } = leaseAt(5);
    lease.renew(5);
    clock.now = LEASE_MS;
    expect(lease.holds(5)).toBe(true);
    clock.now = LEASE_MS + 1;
    expect(lease.holds(5)).toBe(false);
    expect(lost).toEqual([]);
    // A new envelope renews the lease, but does not save calls that began before.
    expect(lease.renew(5)).toBe(true);
    expect(lost).toEqual([Infinity]);
  });
});
