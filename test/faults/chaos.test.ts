import { expect, test } from 'vitest';
import { execute, sql } from '#lib/database/index.ts';
import { chaos } from './chaos.ts';
import { violations } from './invariants.ts';
import type { Load } from './load.ts';

test(
  'thirty processes killed at random lose no run, double no step and leave no occurrence or delivery unaccounted for',
  { timeout: 360_000 },
  async () => {
    const report = await chaos({
      seed: Number(process.env['CHAOS_SEED'] ?? 20_261),
      kills: 30,
      pauseMs: [800, 3_000],
      downMs: 1_500,
      clients: 6,
      settleMs: 150_000,
      log: console.log,
      inspect: everyFaultIsNoticed,
    });
    console.log(report.figures.join('\n'));
    expect(report.violations).toEqual([]);
    expect(report.kills).toBe(30);
  },
);

/** What is checked above has to be able to fail: each of these is a fault that the kills must not have caused. */
async function everyFaultIsNoticed(load: Load): Promise<void> {
  const { database, ledger } = load;
  const [run, other] = ledger.accepted.map(({ id }) => id).slice(-2);
  const before = new Set(await violations(load));
  for (const fault of [
    sql`insert into runs (id, project_id, routine_id, routine_revision, trigger, state, max_steps, timeout_seconds)
      select 'run_twice', project_id, routine_id, 1, 'manual', 'queued', 1, 10 from runs where id = ${run}`,
    sql`update runs set scheduled_for = scheduled_for + interval '1 second' where id =
      (select id from runs where trigger = 'schedule' limit 1)`,
    sql`delete from usage_ledger where run_id = (select run_id from usage_ledger limit 1)`,
    sql`update steps set attempt = 0 where run_id = (select run_id from steps where state = 'succeeded' limit 1)`,
    sql`delete from webhook_attempts where delivery_id =
      (select id from webhook_deliveries where run_id = ${run})`,
    sql`delete from webhook_deliveries where run_id = ${run}`,
    sql`update webhook_deliveries set body = 'x' where run_id = ${other}`,
  ]) {
    expect(await execute(database, fault)).toBeGreaterThan(0);
  }
  ledger.accepted.push({ id: 'run_lost', key: 'lost' });
  const noticed = (await violations(load)).filter((fault) => !before.has(fault));
  for (const words of [
    'run run_lost was accepted and is not on record',
    'run run_twice was made twice',
    'run run_twice is still queued',
    'has 0 rows',
    'on record that was never due',
    'the ledger disagree',
    'attempts on record',
    `run ${run} has no delivery`,
    'arrived and is not on record',
    'arrived with different bodies',
  ]) {
    expect(noticed.join('\n')).toContain(words);
  }
}
