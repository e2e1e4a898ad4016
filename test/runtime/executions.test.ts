import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { CallFailure, createStoreBox, envelopeKeys, type OpenedRequest } from '#lib/envelope/index.ts';
import { createLog } from '#lib/log.ts';
import { createExecutions, type Begun, type Executions } from '#runtime/calls/executions.ts';
import { createJournal, KEEP_RESULTS_MS, type Journal } from '#runtime/state/journal.ts';
import { createLease, LEASE_MS } from '#runtime/state/lease.ts';
import { openState, type RuntimeState } from '#runtime/state/open-state.ts';
import { sampleRequest } from '#test/lib/envelope/sample.ts';

let folder: string;
let state: RuntimeState;
let journal: Journal;
let executions: Executions;
const clock = { now: Date.now(), monotonic: 0 };

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'ras-executions-'));
  state = openState(folder);
  state.close();
  const database = new DatabaseSync(path.join(folder, 'journal.db'));
  journal = createJournal(database, { now: () => clock.now });
  clock.monotonic = 0;
  const epoch = {
    instanceId: state.instanceId,
    current: () => 1,
    raise: () => undefined,
  };
  const lease = createLease(epoch, (below) => executions.fence(below), {
    now: () => clock.monotonic,
  });
  executions = createExecutions({
    journal,
    box: createStoreBox(envelopeKeys(randomBytes(32).toString('base64'))),
    lease,
    maxAtOnce: 2,
    maxMs: 60_000,
    lonelyMs: 50,
    log: createLog({ level: 'silent', name: 'test' }),
  });
  return () => {
    lease.close();
    database.close();
    rmSync(folder, { recursive: true, force: true });
  };
});

function request(requestId: string, changes: Partial<OpenedRequest['claims']> = {}): OpenedRequest {
  const { claims, body } = sampleRequest({ requestId, epoch: 1 });
  return {
    claims: {
      ...claims,
      version: 1,
      issuedAt: 0,
      expiresAt: 60,
      bodyHash: 'aa'.repeat(32),
      ...changes,
    },
    body,
    credential: null,
    digest: randomBytes(32),
  };
}

function begun(given: Begun) {
  if (given.kind === 'full') throw new Error('full');
  return given;
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the session was killed')));
  });
}

test('a call without a waiting caller is given up after a while, and its outcome stays unknown', async () => {
  const first = begun(executions.begin(request('a'), untilAborted));
  const second = begun(executions.begin(request('a'), untilAborted));
  first.leave();
  first.leave();
  await sleep(120);
  expect(executions.count).toBe(1);
  second.leave();
  expect(await first.outcome).toMatchObject({ code: 'unknown_outcome' });
  expect(executions.count).toBe(0);
  expect(journal.find('a')).toMatchObject({ state: 'accepted' });
  const again = begun(executions.begin(request('a'), () => Promise.reject(new Error('asked'))));
  expect(await again.outcome).toMatchObject({ code: 'unknown_outcome' });
});

test('one that comes back in time finds it going on', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = begun(executions.begin(request('a'), () => promise));
  first.leave();
  const back = begun(executions.begin(request('a'), untilAborted));
  await sleep(120);
  resolve('done');
  expect(await back.outcome).toEqual({ type: 'result', value: 'done' });
});

test('a result is kept for an hour, and then known to be gone', async () => {
  await begun(executions.begin(request('a'), async () => ({ n: 1 }))).outcome;
  const again = begun(executions.begin(request('a'), untilAborted));
  expect(await again.outcome).toEqual({ type: 'result', value: { n: 1 } });
  clock.now += KEEP_RESULTS_MS + 1;
  journal.prune();
  const later = begun(executions.begin(request('a'), untilAborted));
  expect(await later.outcome).toMatchObject({ code: 'result_gone' });
});

test('what ends after its lease is not stored', async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const { outcome } = begun(executions.begin(request('a'), () => promise));
  clock.monotonic = LEASE_MS + 1;
  resolve('done');
  expect(await outcome).toMatchObject({ code: 'fenced' });
  expect(journal.find('a')).toMatchObject({ state: 'accepted', sealed: undefined });
});

test('a call ends at its deadline, and that is its outcome', async () => {
  const { outcome } = begun(executions.begin(request('a', { deadline: Date.now() + 100 }), untilAborted));
  expect(await outcome).toMatchObject({ type: 'failure', code: 'timeout' });
  expect(journal.find('a')).toMatchObject({ state: 'finished' });
});

test('a failure keeps its details, an error gets no details, and a result that does not fit is a failure', async () => {
  const limit = begun(
    executions.begin(request('a'), () => Promise.reject(new CallFailure('usage_limit', { resetAt: 5 }))),
  );
  expect(await limit.outcome).toEqual({
    type: 'failure',
    code: 'usage_limit',
    details: { resetAt: 5 },
  });
  const broken = begun(executions.begin(request('b'), () => Promise.reject(new Error('secret'))));
  expect(await broken.outcome).toEqual({ type: 'failure', code: 'sandbox_failed', details: {} });
  const large = begun(executions.begin(request('c'), async () => 'x'.repeat(5_000_000)));
  expect(await large.outcome).toMatchObject({ code: 'too_large' });
});

test('calls beyond the limit are not written', async () => {
  const running = ['a', 'b'].map((id) => begun(executions.begin(request(id), untilAborted)));
  expect(executions.begin(request('c'), untilAborted)).toEqual({ kind: 'full' });
  expect(journal.find('c')).toBeUndefined();
  await executions.drain(50);
  for (const { outcome } of running) {
    expect(await outcome).toMatchObject({ code: 'unknown_outcome' });
  }
});
