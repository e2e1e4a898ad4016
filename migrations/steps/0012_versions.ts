import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  // Everything that is material, as it was at each revision: a run executes the version that it was made with.
  await knex.raw(`
    create table routine_versions (
      routine_id text not null references routines (id),
      revision integer not null,
      project_id text not null references projects (id),
      instructions text not null,
      variables jsonb not null,
      model_provider text not null,
      model_connection_id text,
      model_id text not null,
      skills text[] not null,
      max_steps integer not null,
      timeout_seconds integer not null,
      max_total_tokens integer,
      max_output_tokens integer,
      max_queue_seconds integer not null,
      tools jsonb not null,
      changed text[] not null,
      created_at timestamptz(3) not null default now(),
      created_by text,
      restored_from integer,
      primary key (routine_id, revision)
    );

    insert into routine_versions (routine_id, revision, project_id, instructions, variables, model_provider,
      model_connection_id, model_id, skills, max_steps, timeout_seconds, max_total_tokens, max_output_tokens,
      max_queue_seconds, tools, changed, created_at)
    select id, revision, project_id, instructions, variables, model_provider, model_connection_id, model_id, skills,
      max_steps, timeout_seconds, max_total_tokens, max_output_tokens, max_queue_seconds,
      (select coalesce(jsonb_agg(jsonb_build_object('connectionId', p.connection_id, 'name', p.tool_name,
          'definitionHash', p.confirmed_hash, 'maxCallsPerRun', p.max_calls_per_run, 'argumentSchemaHash',
          encode(sha256(convert_to(p.argument_schema::text, 'UTF8')), 'hex')) order by p.connection_id, p.tool_name), '[]')
        from tool_policies p where p.routine_id = routines.id and p.state = 'automatic'),
      '{}', updated_at
    from routines;
  `);

  // Runs under way across the upgrade: one that has no text yet would have taken the routine's present one, and one that
  // has keeps it; its revision's own text was overwritten, so what it was rendered to stands for it.
  await knex.raw(`
    update runs set routine_revision = r.revision from routines r
    where r.id = runs.routine_id and runs.routine_revision <> r.revision and runs.prompt is null
      and (runs.state = 'running' or (runs.state = 'queued' and runs.trigger = 'manual'));

    insert into routine_versions (routine_id, revision, project_id, instructions, variables, model_provider,
      model_connection_id, model_id, skills, max_steps, timeout_seconds, max_total_tokens, max_output_tokens,
      max_queue_seconds, tools, changed, created_at)
    select distinct on (runs.routine_id, runs.routine_revision) runs.routine_id, runs.routine_revision,
      runs.project_id, runs.prompt, '{}', runs.model_provider, runs.model_connection_id, runs.model_id, '{}',
      runs.max_steps, runs.timeout_seconds, runs.max_total_tokens, r.max_output_tokens,
      r.max_queue_seconds, '[]', '{}', runs.created_at
    from runs join routines r on r.id = runs.routine_id
    where runs.state = 'running' and runs.prompt is not null and runs.model_id is not null
    order by runs.routine_id, runs.routine_revision, runs.id
    on conflict do nothing;
  `);
}
