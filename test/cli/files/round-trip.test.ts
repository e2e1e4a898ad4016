import path from 'node:path';
import fc from 'fast-check';
import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { sized } from '#test/support/properties.ts';
import { routineBody } from '#test/support/routines.ts';
import { renderHeaded } from '../../../cli/src/files/document.ts';
import { awkward } from './awkward.ts';
import { folderFor } from './folder.ts';

const test = serviceTest();

/** A text that the service accepts: it has visible characters, and a value for every placeholder. */
const text = awkward
  .map((value) => value.replaceAll('{{', '{'))
  .filter((value) => value.trim() !== '' && !value.includes('{{'));

const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }).map((value) => JSON.parse(JSON.stringify(value)));

const routine = fc.record(
  {
    name: fc.constantFrom('Weekly audit', '  Ünïcode  ', '日報', 'a: b', '- x', 'null', '#1'),
    instructions: text,
    schedule: fc.constantFrom('0 7 * * 1', '@daily', '*/5 * * * *'),
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
    startsAt: fc.constantFrom(null, '2027-01-01T01:00:00+02:00', '2027-01-01T00:00:00Z'),
    skipDates: fc.constantFrom([], ['2027-12-25', '2027-01-01']),
    jitterSeconds: fc.constantFrom(0, 60),
    overlap: fc.constantFrom('skip', 'queue'),
    budget: fc.constantFrom({}, { maxCostUsdPerMonth: '01.50' }, { maxTokensPerDay: 5_000_000 }),
    pauseAfterFailures: fc.constantFrom(5, 7),
    notifications: fc.constantFrom({}, { mail: { on: ['failed'], to: 'owners' } }, { mail: { on: [], to: 'admins' } }),
    variables: fc.dictionary(fc.constantFrom('topic', 'Yes', 'null', '_x', 'constructor', 'y'), awkward, {
      maxKeys: 3,
    }),
    facts: fc.boolean(),
    limits: fc.constantFrom(
      {},
      { maxSteps: 3 },
      { abnormalFactor: null },
      { maxOutputTokens: 100, timeoutSeconds: 60 },
    ),
    carryResult: fc.boolean(),
    builtInTools: fc.constantFrom([], ['calculate']),
    outcome: fc.constantFrom('optional', 'required'),
    checks: fc.constantFrom([], [{ type: 'result_not_empty' }], [{ type: 'result_matches', pattern: '^#\\s"' }]),
    gate: fc.constantFrom(
      null,
      { url: 'https://example.com/feed.json' },
      { url: 'https://example.com/', pointers: ['/a~1b'], wakeOn: 'not_empty', maxQuietHours: 24 },
    ),
    resultSchema: fc.oneof(
      fc.constant(null),
      json.map((value) => ({ type: 'object', description: 'x', default: value })),
    ),
  },
  { requiredKeys: ['name', 'instructions', 'schedule'] },
);

test('what pull has written is what the service has: plan is empty, and each text is the same to the byte', async ({
  ada,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(routine, { minLength: 1, maxLength: 6 }), async (routines) => {
      const key = await ada.key();
      const folder = await folderFor(key);
      const ids: string[] = [];
      for (const fields of routines) {
        const created = await key.post('/v1/routines', routineBody(fields));
        expect(created.status, JSON.stringify(created.body)).toBe(201);
        ids.push(created.data.id);
      }
      const { code, json: said, stderr } = await folder.ras(['pull', ...ids]);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      const plan = await folder.plan();
      expect(plan.stderr).toBe('');
      expect(changesOf(plan.json, ids)).toEqual([]);
      for (const [at, { file }] of said.pulled.entries()) {
        const whole = await folder.read(file);
        expect(whole.endsWith(`---\n${routines[at]!.instructions}\n`)).toBe(true);
      }
      for (const id of ids) await key.delete(`/v1/routines/${id}`);
    }),
    { numRuns: sized(60) },
  );
});

test('what apply has written from files is there as they say: plan is empty, however it is spelled', async ({
  ada,
}) => {
  await fc.assert(
    fc.asyncProperty(fc.array(routine, { minLength: 1, maxLength: 6 }), async (routines) => {
      const folder = await folderFor(await ada.key());
      // One folder of one project has the files of all rounds.
      await folder.write('ras.yaml', 'version: 1\nname: round-trip\n');
      for (const [at, fields] of routines.entries()) {
        const { instructions, ...head } = routineBody(fields);
        await folder.write(`routines/r${at}.md`, renderHeaded(head, String(instructions), ''));
      }
      const applied = await folder.ras(['apply', '--yes']);
      expect(applied.stderr).not.toContain('refused');
      await folder.plan('--out', path.join(folder.folder, 'plan.json'));
      const plan = JSON.parse(await folder.read('plan.json'));
      const files = plan.changes.filter(({ file }: { file: string | null }) => file !== null);
      expect(files.flatMap(({ fields }: { fields: unknown[] }) => fields)).toEqual([]);
      expect(files).toHaveLength(routines.length);
    }),
    { numRuns: sized(60) },
  );
});

function changesOf(plan: { changes: { id: string; action: string }[] }, ids: readonly string[]) {
  return plan.changes.filter(({ id, action }) => ids.includes(id) && action !== 'unchanged');
}
