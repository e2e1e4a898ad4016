import knex from 'knex';
import { expect } from 'vitest';
import { up } from '#migrations/steps/0038_skill_revisions.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine } from '#test/support/routines.ts';

const test = serviceTest({ own: true, worker: true });

test('the texts that skills have when revisions begin are revision 1 of each, and what was active stays proven with them', async ({
  service,
  key,
}) => {
  const instructions = 'Write as a friend would, in one line.';
  const { data: skill } = await key.post('/v1/skills', { name: 'Tone', instructions });
  const routineId = await activeRoutine(key, { skills: [skill.id] });
  const client = knex({ client: 'pg', connection: service.config.DATABASE_URL });
  const transaction = await client.transaction();
  try {
    // As the release before had it.
    await transaction.raw('drop table skill_revisions');
    for (const [table, columns] of Object.entries(ADDED)) {
      const drops = columns.map((column) => `drop column ${column}`).join(', ');
      await transaction.raw(`alter table ${table} ${drops}`);
    }
    await up(transaction);
    const { rows } = await transaction.raw('select * from skill_revisions where skill_id = ?', [
      skill.id,
    ]);
    expect(rows).toEqual([
      {
        skill_id: skill.id,
        revision: 1,
        project_id: expect.stringMatching(/^prj_/),
        name: 'Tone',
        instructions,
        created_by: null,
        created_at: new Date(skill.updatedAt),
      },
    ]);
    await transaction.commit();
  } finally {
    await transaction.rollback().catch(() => undefined);
    await client.destroy();
  }
  // Nothing is behind, and a later text waits for its proof.
  const behind = async () => (await key.get(`/v1/routines/${routineId}`)).data.skillsBehind;
  expect(await behind()).toEqual([]);
  await key.patch(`/v1/skills/${skill.id}`, { instructions: `${instructions} And another.` });
  expect(await behind()).toMatchObject([{ activated: 1, newest: 2 }]);
});

const ADDED = {
  skills: ['revision'],
  runs: ['skill_revisions', 'proves'],
  routine_versions: ['active_skills', 'proof_skills'],
};
