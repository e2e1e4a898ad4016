import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table skills add column revision integer not null default 1');
  await knex.raw(`
    create table skill_revisions (
      skill_id text not null references skills (id) on delete cascade,
      revision integer not null,
      project_id text not null references projects (id),
      name text not null,
      instructions text not null,
      created_by text,
      created_at timestamptz(3) not null default now(),
      primary key (skill_id, revision)
    )
  `);
  await knex.raw(`
    insert into skill_revisions (skill_id, revision, project_id, name, instructions, created_at)
    select id, 1, project_id, name, instructions, updated_at from skills
  `);
  // By skill id the revision that a run was made with. Null stands for revision 1 of each: what was proven or activated
  // before revisions were kept counts as proven with the text that the skills have now.
  // `proves` is false for a run with other variables than its routine's own, also when its variables are erased.
  await knex.raw(`
    alter table runs add column skill_revisions jsonb, add column proves boolean
  `);
  await knex.raw(`
    alter table routine_versions add column active_skills jsonb, add column proof_skills jsonb
  `);
}
