import type { Cluster } from './cluster.ts';
import type { Load } from './load.ts';

/** Describes the events of a test in lines to print. */
export async function figures(
  cluster: Cluster,
  { database, ledger, modelCalls, mostOpenRuns, receiver, tools }: Load,
): Promise<string[]> {
  const byState = await database.rows<{
    trigger: string;
    state: string;
    reason: string | null;
    count: number;
  }>`
    select trigger, state, reason, count(*) as count from runs
    group by trigger, state, reason order by trigger, state
  `;
  const steps = await database.row<{ steps: number; repeated: number; attempts: number }>`
    select count(*) as steps, count(*) filter (where attempt > 1) as repeated, sum(attempt) as attempts
    from steps where kind = 'model'
  `;
  const lost = await database.row<{ counted: number; reserved: number }>`
    select (select count(*) from usage_ledger where attempt < 0) as counted,
      (select count(*) from usage_reservations) as reserved
  `;
  const sent = await database.row<{ deliveries: number; attempts: number; redone: number }>`
    select count(*) as deliveries, sum(attempt_count) as attempts,
      count(*) filter (where attempt_count > 1) as redone
    from webhook_deliveries
  `;
  const toolSteps = await database.rows<{
    name: string;
    state: string;
    repeated: number;
    count: number;
  }>`
    select tool->>'name' as name, state, count(*) as count, count(*) filter (where attempt > 1) as repeated
    from steps where kind = 'tool' group by 1, 2 order by 1, 2
  `;
  const calls = [...modelCalls.byStep.values()].flatMap((counts) => [...counts.values()]);
  const receipts = [...receiver.receipts.values()];
  const total = (numbers: readonly number[]) => numbers.reduce((sum, value) => sum + value, 0);
  return [
    ...byState.map(
      ({ trigger, state, reason, count }) =>
        `runs, ${trigger}, ${state}${reason === null ? '' : ` (${reason})`}: ${count}`,
    ),
    `manual runs accepted: ${ledger.accepted.length}; clients were told to come again: ${
      [...ledger.refusals].map(([outcome, count]) => `${outcome} ${count}`).join(', ') || 'never'
    }`,
    `occurrences planted: ${ledger.planted.length}, of which uncertain ${
      ledger.planted.filter(({ certain }) => !certain).length
    }`,
    `model steps: ${steps?.steps}, begun again ${steps?.repeated}; attempts on record ${steps?.attempts}, model calls ${total(calls)}`,
    `calls lost with their worker: ${lost?.counted} counted, ${lost?.reserved} still reserved`,
    ...toolSteps.map(
      ({ name, state, repeated, count }) => `tool calls, ${name}, ${state}: ${count}, begun again ${repeated}`,
    ),
    `tool calls that arrived: ${tools.calls.length}; most runs open at a time: ${mostOpenRuns()}`,
    `deliveries: ${sent?.deliveries}, sent again ${sent?.redone}; attempts on record ${sent?.attempts}, arrivals ${total(receipts.map(({ count }) => count))}`,
    `processes that ended by themselves: ${cluster.deaths.length}`,
    ...cluster.deaths.map(({ role, lastWords }) => `  ${role}: ${/^\w*Error: .*$/m.exec(lastWords)?.[0] ?? lastWords}`),
  ];
}
