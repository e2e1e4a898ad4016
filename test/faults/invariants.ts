import type { Db } from '#lib/database/index.ts';
import { kindOf } from './ledger.ts';
import type { Evidence } from './load.ts';
import { toolCalls } from './tool-invariants.ts';

/** Returns a sentence for each violation. */
export async function violations(load: Evidence): Promise<string[]> {
  const { database, ledger } = load;
  return [
    ...ledger.wrongAnswers,
    ...(await runsOnRecord(load)),
    ...(await occurrences(load)),
    ...(await sums(database)),
    ...(await totals(database)),
    ...(await modelSteps(load)),
    ...(await toolCalls(load)),
    ...(await deliveries(load)),
  ];
}

/** Checks that every accepted run is stored once and has ended well. */
async function runsOnRecord({ database, ledger }: Evidence): Promise<string[]> {
  const found = await database.rows<{
    id: string;
    state: string;
    reason: string | null;
    trigger: string;
  }>`select id, state, reason, trigger from runs`;
  const byId = new Map(found.map((run) => [run.id, run]));
  const lost = ledger.accepted.filter(({ id }) => !byId.has(id));
  const accepted = new Set(ledger.accepted.map(({ id }) => id));
  const unasked = found.filter(({ id, trigger }) => trigger === 'manual' && !accepted.has(id));
  const keys = new Set(ledger.accepted.map(({ key }) => key));
  return [
    ...lost.map(({ id }) => `run ${id} was accepted and is not on record`),
    ...unasked.map(({ id }) => `run ${id} was made twice for one key, or without a request`),
    ...(keys.size === accepted.size ? [] : ['two keys gave the same run']),
    ...found
      .filter(({ state }) => state === 'queued' || state === 'running')
      .map(({ id, state }) => `run ${id} is still ${state}`),
    ...found.filter(({ state }) => state === 'failed').map(({ id, reason }) => `run ${id} failed: ${reason}`),
  ];
}

/**
 * Checks that exactly one row accounts for every planted occurrence, and that there are no other rows. A row counts one
 * occurrence, or a streak of skipped ones from its first to its last.
 */
async function occurrences({ database, ledger }: Evidence): Promise<string[]> {
  const found = await database.rows<Accounted>`
    select routine_id as "routineId", scheduled_for as at, coalesce(skipped_until, scheduled_for) as until,
      coalesce(skipped_count, 1) as count
    from runs where trigger = 'schedule'
  `;
  const byRoutine = Map.groupBy(found, ({ routineId }) => routineId);
  const plantedBy = Map.groupBy(ledger.planted, ({ routineId }) => routineId);
  const faults: string[] = [];
  for (const planted of ledger.planted.filter(({ certain }) => certain)) {
    const covering = (byRoutine.get(planted.routineId) ?? []).filter((row) => covers(row, planted));
    if (covering.length !== 1) {
      faults.push(`the occurrence of ${nameOf(planted)} has ${covering.length} rows`);
    }
  }
  for (const row of found) {
    const within = (plantedBy.get(row.routineId) ?? []).filter((planted) => covers(row, planted));
    const due = new Set(within.map(({ at }) => at.getTime()));
    if (!due.has(row.at.getTime()) || !due.has(row.until.getTime())) {
      faults.push(`an occurrence of ${nameOf(row)} is on record that was never due`);
    }
    const certain = within.filter((planted) => planted.certain).length;
    if (row.count < certain || row.count > within.length) {
      faults.push(`the row of ${nameOf(row)} stands for ${row.count} of ${within.length}`);
    }
  }
  return faults;
}

interface Accounted {
  readonly routineId: string;
  readonly at: Date;
  readonly until: Date;
  readonly count: number;
}

function covers(row: Accounted, { at }: { readonly at: Date }): boolean {
  return row.at <= at && at <= row.until;
}

function nameOf({ routineId, at }: { readonly routineId: string; readonly at: Date }): string {
  return `${routineId} at ${at.toISOString()}`;
}

/**
 * Checks that runs, steps and ledger have the same usage: a step the sum of its attempts, and a run the sum of its
 * steps.
 */
async function sums(database: Db): Promise<string[]> {
  const runs = await database.rows<{ id: string }>`
    select runs.id from runs left join (
      select run_id, count(*) filter (where kind = 'model' and state = 'succeeded') as done,
        sum(input_tokens) as input, sum(output_tokens) as output, sum(cost_usd) as cost,
        max(index) + 1 as indexes, count(*) as steps
      from steps group by run_id
    ) s on s.run_id = runs.id
    where runs.step_count <> coalesce(s.done, 0) or runs.input_tokens <> coalesce(s.input, 0)
      or runs.output_tokens <> coalesce(s.output, 0) or runs.cost_usd is distinct from s.cost
      or s.indexes <> s.steps
  `;
  const steps = await database.rows<{ runId: string; index: number; step: object; ledger: object }>`
    select coalesce(s.run_id, l.run_id) as "runId", coalesce(s.index, l.step_index) as index,
      to_jsonb(s) - array['messages', 'text'] as step, to_jsonb(l) as ledger
    from steps s full join (
      select run_id, step_index, count(*) as responses, max(attempt) as attempt, sum(total_tokens) as total,
        sum(cost_usd) as cost
      from usage_ledger group by run_id, step_index
    ) l on l.run_id = s.run_id and l.step_index = s.index
    where (s.kind = 'model' and s.state = 'succeeded' and l.responses is null)
      -- A call that was cut off counts as estimated; one whose response met the end of its run has a finish reason.
      or (l.responses is not null and not (s.kind = 'model'
        and (s.state = 'succeeded' or s.usage_estimated or s.finish_reason is not null)))
      or s.input_tokens + s.output_tokens <> coalesce(l.total, 0) or s.cost_usd is distinct from l.cost
      or l.attempt > s.attempt or s.run_id is null
  `;
  return [
    ...runs.map(({ id }) => `the usage of run ${id} and its steps disagree`),
    ...steps.map(
      ({ runId, index, step, ledger }) =>
        `step ${index} of run ${runId} and its entries in the ledger disagree: ${JSON.stringify({ step, ledger })}`,
    ),
  ];
}

/**
 * Checks that the totals of every scope equal the ledger, that reserved amounts equal the reservations, and that days
 * add up to the same.
 */
async function totals(database: Db): Promise<string[]> {
  const found = await database.rows<{ what: string; scopeId: string }>`
    with ledger as (
      select scope_id, sum(total_tokens) as tokens, coalesce(sum(l.cost_usd), 0) as cost
      from usage_ledger l join runs r on r.id = l.run_id,
        unnest(array[r.organization_id, r.project_id, r.routine_id]) as scope_id
      group by scope_id
    ), reserved as (
      select scope_id, sum(tokens) as tokens, sum(cost_usd) as cost
      from usage_reservations, unnest(scope_ids) as scope_id group by scope_id
    ), days as (
      select routine_id as scope_id, sum(input_tokens + output_tokens) as tokens from usage_days group by routine_id
    )
    select 'spent' as what, scope_id as "scopeId" from usage_totals t full join ledger l using (scope_id)
    where coalesce(t.month_tokens, 0) <> coalesce(l.tokens, 0)
      or coalesce(t.month_cost_usd, 0) <> coalesce(l.cost, 0)
    union all
    select 'reserved', scope_id from usage_totals t full join reserved r using (scope_id)
    where coalesce(t.reserved_tokens, 0) <> coalesce(r.tokens, 0)
      or coalesce(t.reserved_cost_usd, 0) <> coalesce(r.cost, 0)
    union all
    select 'spent in its days', scope_id from days left join ledger l using (scope_id)
    where days.tokens <> coalesce(l.tokens, 0)
  `;
  return found.map(({ what, scopeId }) => `the totals of what ${scopeId} has ${what} are wrong`);
}

/** Checks that each run has the model steps of its script, and that each request is a stored attempt. */
async function modelSteps({ database, ledger, modelCalls }: Evidence): Promise<string[]> {
  const found = await database.rows<{
    runId: string;
    routineId: string;
    runState: string;
    attempts: number[];
    states: string[];
  }>`
    select runs.id as "runId", routine_id as "routineId", runs.state as "runState",
      array_agg(steps.attempt order by index) as attempts, array_agg(steps.state order by index) as states
    from runs join steps on steps.run_id = runs.id and kind = 'model'
    group by runs.id
  `;
  const faults: string[] = [];
  const known = new Map(found.map((run) => [run.runId, run]));
  for (const { runId, routineId, runState, attempts, states } of found) {
    const wanted = kindOf(ledger, routineId).modelSteps;
    if (runState === 'succeeded' && states.length !== wanted) {
      faults.push(`run ${runId} has ${states.length} model steps instead of ${wanted}`);
    }
    for (const [step, attempt] of attempts.entries()) {
      const calls = modelCalls.byStep.get(runId)?.get(step) ?? 0;
      if (calls > attempt) {
        faults.push(`model step ${step} of run ${runId}: ${calls} calls, ${attempt} attempts on record`);
      }
      if (calls === 0 && states[step] === 'succeeded') {
        faults.push(`model step ${step} of run ${runId} was never asked of the model`);
      }
    }
  }
  for (const [runId, steps] of modelCalls.byStep) {
    const recorded = known.get(runId)?.states.length ?? 0;
    const highest = Math.max(...steps.keys());
    if (highest >= recorded) faults.push(`run ${runId} called the model for a step not on record`);
  }
  return faults;
}

/** Checks that every ended run of a routine has one delivery, which arrived under one id with one body. */
async function deliveries({ database, receiver }: Evidence): Promise<string[]> {
  const found = await database.rows<{
    runId: string;
    id: string | null;
    state: string | null;
    body: string | null;
    attempts: number;
  }>`
    select runs.id as "runId", d.id, d.state, d.body,
      (select count(*) from webhook_attempts a where a.delivery_id = d.id) as attempts
    from runs left join webhook_deliveries d on d.run_id = runs.id
    where runs.state in ('succeeded', 'failed', 'cancelled')
  `;
  const faults: string[] = [];
  const runsSeen = new Set<string>();
  for (const { runId, id, state, body, attempts } of found) {
    if (runsSeen.has(runId)) faults.push(`run ${runId} has two deliveries`);
    runsSeen.add(runId);
    if (id === null) faults.push(`run ${runId} has no delivery`);
    else {
      const receipts = receiver.receipts.get(id);
      if (state !== 'delivered') faults.push(`delivery ${id} of run ${runId} is ${state}`);
      if (receipts === undefined) faults.push(`delivery ${id} of run ${runId} never arrived`);
      else if (receipts.bodies.size > 1 || !receipts.bodies.has(body!)) {
        faults.push(`delivery ${id} of run ${runId} arrived with different bodies`);
      } else if (receipts.count > attempts) {
        faults.push(`delivery ${id} arrived ${receipts.count} times with ${attempts} attempts on record`);
      }
    }
  }
  const ids = new Set(found.map(({ id }) => id));
  for (const id of receiver.receipts.keys()) {
    if (!ids.has(id)) faults.push(`delivery ${id} arrived and is not on record`);
  }
  return faults;
}
