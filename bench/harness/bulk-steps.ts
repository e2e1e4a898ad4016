import { newId } from '#lib/ids.ts';
import { execute, sql, type Db } from '#lib/database/index.ts';

/** A run that has ended, of so many steps: model steps and tool calls in turn, each with texts of a usual length. */
export async function loadRunOfSteps(
  db: Db,
  input: { projectId: string; routineId: string; steps: number },
): Promise<string> {
  const { projectId, routineId, steps } = input;
  const id = newId('run');
  await execute(
    db,
    sql`
      insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, prompt,
        model_provider, model_id, max_steps, timeout_seconds, result, step_count, input_tokens, output_tokens, cost_usd,
        created_at, workflow_started_at, started_at, finished_at)
      select ${id}, organization_id, ${projectId}, ${routineId}, 1, 'manual', 'succeeded', 'Read every page and report.',
        'gateway', 'fixture/writer-small', ${steps}, 3600, ${RESULT}, ${steps}, 120 * ${steps}::bigint,
        20 * ${steps}::bigint, 0.003, now(), now(), now() - interval '1 hour',
        now() - interval '1 hour' + ${steps} * interval '3 seconds'
      from projects where id = ${projectId}
    `,
  );
  await execute(
    db,
    sql`
      insert into steps (run_id, index, project_id, kind, state, model_id, text, messages, tool, finish_reason,
        input_tokens, output_tokens, cost_usd, started_at, finished_at)
      select ${id}, n, ${projectId}, kind, 'succeeded',
        case when kind = 'model' then 'fixture/writer-small' end,
        case when kind = 'model' then 'Reading page ' || n || '. ' || ${text(20)} end,
        '[]'::jsonb,
        case when kind = 'tool' then jsonb_build_object('name', 'read_page', 'toolName', 'read_page',
          'connectionId', null, 'connectionName', null, 'policyId', null, 'arguments', '{"page": ' || n || '}', 'argumentsLength', 12,
          'result', ${text(60)}, 'attachments', '[]'::jsonb, 'isError', false) end,
        case when kind = 'model' then 'tool-calls' end,
        case when kind = 'model' then 120 else 0 end, case when kind = 'model' then 20 else 0 end,
        case when kind = 'model' then 0.00003 end,
        now() - interval '1 hour' + n * interval '3 seconds', now() - interval '1 hour' + (n + 1) * interval '3 seconds'
      from generate_series(0, ${steps}::int - 1) n
      cross join lateral (select case when n % 2 = 0 then 'model' else 'tool' end as kind) as kinds
    `,
  );
  return id;
}

const RESULT = '## What changed\n\nTwo pages are gone, and one has a new title.';

function text(sentences: number) {
  return sql`repeat('The page has a title, a text and some links. ', ${sentences})`;
}
