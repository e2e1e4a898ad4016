import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAuditEvents } from '#core/foundation/audit/index.ts';
import { listRoutines, readRoutine } from '#core/authoring/routines/index.ts';
import { listRecentRuns } from '#core/execution/runs/index.ts';
import { insertOccurrences } from '#core/execution/runs/occurrences.ts';
import { previousRunJson, previousDataJson } from '#core/execution/steps/begin-step.ts';
import { medianOfVersion, usageOfVersion } from '#core/execution/forecast/version-usage.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { plantRoutine, type Planted } from '#test/core/scheduling/planted.ts';
import { blocksOf } from '#test/support/blocks.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

let testDatabase: TestDatabase;
let busy: Planted;
/** A routine without runs, beside one with nearly all runs and one of an organization that has no runs at all. */
let quiet: Planted;
let alone: Planted;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  const { database } = testDatabase;
  busy = await plantRoutine(database, { schedule: '@yearly' });
  quiet = await plantRoutine(database, { schedule: '@yearly', beside: busy });
  alone = await plantRoutine(database, { schedule: '@yearly' });
  await database.run`
    insert into runs (id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps,
      timeout_seconds, finished_at)
    select 'run_' || lpad(n::text, 26, '0'), ${busy.organizationId}, ${busy.projectId}, ${busy.id}, 1, 'manual',
      'succeeded', 1, 60, now()
    from generate_series(0, 19999) n
  `;
  await database.run`
    insert into audit_events (id, organization_id, actor_kind, action, target_id)
    select 'aud_' || lpad(n::text, 26, '0'), ${busy.organizationId}, 'system', 'routine.paused', ${busy.id}
    from generate_series(0, 19999) n
  `;
  await database.query('vacuum analyze');
});
afterAll(() => testDatabase.drop());

const page = { limit: 50, after: undefined };
const columns = { projectId: sql`r.project_id`, routineId: sql`r.id` };

const READS: Readonly<Record<string, (of: Planted, db: Db) => Promise<unknown>>> = {
  'the routine with its proof': (of, db) => readRoutine(db, of.projectId, of.id),
  'the routines of its project': (of, db) =>
    listRoutines(db, of.projectId, {
      q: undefined,
      state: undefined,
      stateChangedBy: undefined,
      uses: undefined,
      sendsResults: undefined,
      externalKey: undefined,
      managedBy: undefined,
      page,
    }),
  'the last runs of its project': (of, db) => listRecentRuns(db, of.projectId, { page, count: 10 }),
  'what its version has used': (of, db) => usageOfVersion(db, versionOf(of)),
  'what its version uses usually': (of, db) => medianOfVersion(db, versionOf(of)),
  'its previous run': (of, db) => db.rows`select ${previousRunJson(columns)} from routines r where r.id = ${of.id}`,
  'its previous data': (of, db) => db.rows`select ${previousDataJson(columns)} from routines r where r.id = ${of.id}`,
  'its latest run, for an occurrence that is skipped': (of, db) =>
    insertOccurrences(db, [
      {
        id: newId('run'),
        routine_id: of.id,
        state: 'skipped',
        reason: 'overlap',
        error_message: null,
        scheduled_for: new Date(),
        skipped_count: 1,
        skipped_until: new Date(),
        after_previous: false,
      },
    ]),
  'the audit events of its organization': ({ organizationId }, db) => listAuditEvents(db, { organizationId }, page),
};

const FEW = 150;

test.each(Object.keys(READS))('%s: few blocks, where another has nearly all rows', async (name) => {
  const blocks: Record<string, number> = {};
  for (const [who, of] of Object.entries({ busy, quiet, alone })) {
    const read = (db: Db) => READS[name]!(of, db).catch(() => undefined);
    for (const plan of ['for these values', 'for any values'] as const) {
      blocks[`${who} ${plan}`] = await blocksOf(testDatabase.database, read, plan);
    }
  }
  const many = Object.entries(blocks).filter(([, count]) => !(count < FEW));
  expect(many).toEqual([]);
});

function versionOf({ projectId, id }: Planted) {
  return { projectId, routineId: id, revision: 1 };
}
