import { expect, test } from 'vitest';
import { sql, transaction } from '#lib/database/index.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { chaos, SLOTS } from './chaos.ts';
import { violations } from './invariants.ts';
import type { Evidence } from './load.ts';

const KILLS = FULL_SIZE ? 30 : 1;

test('processes killed at random lose no run, double no step and leave no occurrence or delivery unaccounted for', async () => {
  const report = await chaos({
    seed: Number(process.env['CHAOS_SEED'] ?? 20_261),
    kills: KILLS,
    pauseMs: [800, 3_000],
    downMs: 1_500,
    clients: 6,
    stuckMs: 150_000,
    log: console.log,
    // The inspection runs in a transaction, so that no worker takes a queued run before it.
    inspect: (load) => transaction(load.database, (database) => everyFaultIsNoticed({ ...load, database })),
  });
  console.log(report.figures.join('\n'));
  expect(report.violations).toEqual([]);
  expect(report.kills).toBe(KILLS);
  // Runs also had to wait for a slot, so a killed worker left runs to start. A few kills may be too short for that.
  expect(report.mostOpenRuns).toBeGreaterThan(FULL_SIZE ? 2 * SLOTS : 0);
});

/** Proves that the invariants can fail: each of these changes breaks one of them. */
async function everyFaultIsNoticed(load: Evidence): Promise<void> {
  const { database, ledger, tools } = load;
  const [run, other] = ledger.accepted.map(({ id }) => id).slice(-2);
  const before = new Set(await violations(load));
  for (const fault of [
    sql`insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps, timeout_seconds)
      select 'run_twice', organization_id, project_id, routine_id, 1, 'manual', 'queued', 1, 10 from runs where id = ${run}`,
    sql`update runs set scheduled_for = scheduled_for + interval '1 second' where id =
      (select id from runs where trigger = 'schedule' limit 1)`,
    sql`delete from usage_ledger where run_id = (select run_id from usage_ledger limit 1)`,
    sql`update runs set input_tokens = input_tokens + 1 where id = ${run}`,
    sql`update usage_totals set month_tokens = month_tokens + 1, reserved_tokens = reserved_tokens + 1
      where scope_id = (select organization_id from runs where id = ${run})`,
    sql`update usage_days set input_tokens = input_tokens + 1 where routine_id = (select routine_id from runs where id = ${run})`,
    sql`update steps set attempt = 0 where kind = 'model' and run_id =
      (select run_id from steps where kind = 'model' and state = 'succeeded' limit 1)`,
    sql`update steps set attempt = 0 where kind = 'tool' and tool->>'name' = 'lookup'`,
    sql`update steps set state = 'failed' where (run_id, index) =
      (select run_id, index from steps where tool->>'name' = 'send_message' and state = 'succeeded' limit 1)`,
    sql`delete from webhook_attempts where delivery_id =
      (select id from webhook_deliveries where run_id = ${run})`,
    sql`delete from webhook_deliveries where run_id = ${run}`,
    sql`update webhook_deliveries set body = 'x' where run_id = ${other}`,
  ]) {
    expect(await database.run`${fault}`).toBeGreaterThan(0);
  }
  ledger.accepted.push({ id: 'run_lost', key: 'lost' });
  // Send a message a second time.
  const sent = new Set(tools.calls.filter(({ name }) => name === 'send_message'));
  tools.calls.push(...sent);
  const noticed = (await violations(load)).filter((fault) => !before.has(fault));
  for (const words of [
    'run run_lost was accepted and is not on record',
    'run run_twice was made twice',
    'run run_twice is still queued',
    'has 0 rows',
    'on record that was never due',
    'and its entries in the ledger disagree',
    `the usage of run ${run} and its steps disagree`,
    'has spent are wrong',
    'has reserved are wrong',
    'has spent in its days are wrong',
    'attempts on record',
    'called its tool 2 times, 1 would be right',
    'called its tool 1 times, 0 would be right',
    'called its tool, and the call is failed',
    `run ${run} has no delivery`,
    'arrived and is not on record',
    'arrived with different bodies',
  ]) {
    expect(noticed.join('\n')).toContain(words);
  }
}
