import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { DEFINITION, definitionForm, fieldsWith, shownOf } from '#core/authoring/definition/index.ts';
import { storedForm } from '#core/authoring/definition/stored-definition.ts';
import { definedFields } from '#core/execution/steps/begin-step.ts';
import { renderBriefing } from '#core/execution/prompt/briefing.ts';
import { createTickParts } from '#core/scheduling/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { ago, changeRoutines, changeVersions } from '#test/support/given.ts';
import { activeRoutine, createRoutine, routineBody, runOnce } from '#test/support/routines.ts';
import { present } from '../../../../api/http/present.ts';
import { bodyWith } from '../../../../api/v1/routines/requests.ts';
import { shapeWith } from '../../../../api/v1/routines/responses.ts';
import { versionWith } from '../../../../api/v1/routines/version-schemas.ts';

/** The definition as release 0.1.0 stores it. The service must always read it, so this file is never changed. */
const released: unknown = JSON.parse(await readFile(new URL('definition-0.1.0.json', import.meta.url), 'utf8'));

describe('what a release has stored', () => {
  test('is read by every later one, and written back as it was', () => {
    const { value, blocked } = definitionForm.read(released);
    expect(blocked).toBeNull();
    expect(value).toMatchObject({
      instructions: 'Watch {{site}} and report what changed.',
      limits: { maxSteps: 25, abnormalFactor: 2.5 },
      gate: { tool: { arguments: { q: 'news' } }, wakeOn: 'changed' },
      resultSchema: { type: 'object', required: ['zone'] },
    });
    expect(JSON.parse(definitionForm.write(value))).toMatchObject(Object(released));
  });

  test('keeps the order of a schema, in which a model writes', () => {
    const { value } = definitionForm.read(released);
    expect(Object.keys(Object(value.resultSchema?.properties))).toEqual(['zone', 'a']);
  });

  test('has defaults for fields that came later', () => {
    const { instructions, model } = definitionForm.read(released).value;
    const { value, blocked } = definitionForm.read({ instructions, model });
    expect(blocked).toBeNull();
    expect(value).toMatchObject({ carryResult: true, checks: [], limits: { maxSteps: 25 } });
  });

  test.each([
    ['a field that it does not know', { tone: 'dry' }, 'tone'],
    ['another type', { carryResult: 'yes' }, 'carryResult'],
    ['another word of a closed list', { outcome: 'sometimes' }, 'outcome'],
    ['another form inside', { limits: { maxSteps: 'many' } }, 'limits.maxSteps'],
    ['a limit that it does not know', { limits: { maxDollars: 3 } }, 'limits.maxDollars'],
    ['a schema that is none', { resultSchema: '{' }, 'resultSchema'],
  ])('by a newer release: %s is named, and everything else is read', (_, fields, name) => {
    const { value, blocked } = definitionForm.read({ ...Object(released), ...fields });
    expect(blocked).toBe(`blocked: this release cannot read the field \`${name}\` of its definition`);
    expect(value.instructions).toBe('Watch {{site}} and report what changed.');
    expect(Object.keys(value)).toEqual(definitionForm.names);
  });

  test('is any JSON', () => {
    for (const stored of [null, 3, 'text', []]) {
      expect(definitionForm.read(stored).blocked).toMatch(/^blocked: /);
    }
  });
});

describe('a field that is added to the definition', () => {
  const definition = {
    ...DEFINITION,
    tone: {
      schema: z.string().max(200).nullable().meta({ description: 'How it writes.' }).default(null),
      label: 'Tone',
      since: '0.2.0',
      told: (tone: string | null) => tone ?? undefined,
    },
  };
  const form = storedForm(definition);
  const fields = fieldsWith(definition);
  const body = bodyWith(fields).parse(routineBody({ tone: 'Dry.' }));

  test('is in the body, with its default', () => {
    expect(body.tone).toBe('Dry.');
    expect(bodyWith(fields).parse(routineBody())).toHaveProperty('tone', null);
    expect(bodyWith(fields).safeParse(routineBody({ tone: 3 })).success).toBe(false);
  });

  test('is stored and read, also where an earlier release has stored none', () => {
    expect(form.read(JSON.parse(form.write(body))).value.tone).toBe('Dry.');
    expect(form.read(released).value.tone).toBeNull();
  });

  test('is not stored at its default, so that the release before reads a routine that does not use it', () => {
    const unused = JSON.parse(form.write(bodyWith(fields).parse(routineBody())));
    expect(definitionForm.read(unused).blocked).toBeNull();
    expect(form.read(unused).value).toHaveProperty('tone', null);
    expect(definitionForm.read(JSON.parse(form.write(body))).blocked).toContain('`tone`');
  });

  test('is in responses and versions', () => {
    const { value } = form.read(JSON.parse(form.write(body)));
    expect(Object.keys(shapeWith(fields))).toContain('tone');
    expect(present(z.strictObject(shownOf(definition)), value).tone).toBe('Dry.');
    expect(Object.keys(versionWith(definition).shape)).toContain('tone');
  });

  test('is told in the briefing, which the preview shows', () => {
    const told = form.told(form.read(JSON.parse(form.write(body))).value);
    expect(told).toEqual(['Tone: Dry.']);
    const run = definedFields(definitionForm.read(released), {}, false);
    const startedAt = new Date('2026-11-25T10:00:00Z');
    const when = { startedAt, timezone: 'UTC', scheduledFor: null, runAt: null, retryOf: null };
    const limits = { maxSteps: 1, timeoutSeconds: 60, maxTotalTokens: null };
    const asked = { runId: 'run_1', routineName: 'R', previous: undefined, previousData: null };
    const briefing = { ...run, ...when, ...limits, ...asked, trigger: 'manual' as const, tools: [], told };
    expect(renderBriefing(briefing, '')).toContain('\n- Tone: Dry.\n');
  });

  test('is a difference', () => {
    const before = form.read(released).value;
    expect(form.differences(before, { ...before, tone: 'Dry.' })).toEqual(['tone']);
    expect(form.differences(before, before)).toEqual([]);
  });
});

const serviced = serviceTest({ worker: true, own: true });

serviced('differences in SQL are those in the code', async ({ service }) => {
  const { database } = service.deps;
  const before = definitionForm.read(released).value;
  const changed = { ...before, checks: [], limits: { ...before.limits, maxSteps: 3 } };
  const found = await database.row<{
    same: string[];
    changed: string[];
    withoutDefaults: string[];
  }>`
    select ${definitionForm.differencesInSql(sql`a`, sql`a`)} as same,
      ${definitionForm.differencesInSql(sql`a`, sql`b`)} as changed,
      ${definitionForm.differencesInSql(sql`a`, sql`a - 'checks'`)} as "withoutDefaults"
    from (select ${definitionForm.write(before)}::jsonb as a, ${definitionForm.write(changed)}::jsonb as b) two
  `;
  expect(found).toEqual({
    same: [],
    changed: definitionForm.differences(before, changed),
    withoutDefaults: ['checks'],
  });
});

serviced('a definition that a newer release wrote blocks its routine and nothing else', async ({ service, key }) => {
  const { database } = service.deps;
  const other = await activeRoutine(key);
  const id = await activeRoutine(key);
  const newer = (column: Sql) => sql`${column} || '{"tone": "dry"}'`;
  await changeRoutines(database, id, { definition: newer, nextRunAt: ago('1 second') });
  await changeRoutines(database, other, { nextRunAt: ago('1 second') });
  await changeVersions(database, { routineId: id }, { definition: newer });

  const reason = 'blocked: this release cannot read the field `tone` of its definition';
  const read = await key.get(`/v1/routines/${id}`);
  expect(read.status).toBe(200);
  expect(read.data).toMatchObject({
    instructions: 'Write one line.',
    stateReason: reason,
    activation: { ready: false, reason: 'definition_unreadable' },
  });
  const listed = await key.get('/v1/routines');
  expect(listed.data).toMatchObject([
    { id, stateReason: reason },
    { id: other, stateReason: null },
  ]);
  expect((await key.get(`/v1/routines/${id}/versions/1`)).status).toBe(200);
  const preview = await key.post(`/v1/routines/${id}/preview`);
  expect(preview.data).toMatchObject({
    prompt: null,
    preflight: { ready: false, reason: 'blocked_definition' },
  });

  // The service does not write a definition that it cannot read, and allows all operations that need no definition.
  const renamed = await key.patch(`/v1/routines/${id}`, { name: 'Renamed' });
  expect([renamed.status, renamed.body.error.code]).toEqual([409, 'definition_unreadable']);
  expect(renamed.body.error.message).toBe(reason);
  const restored = await key.post(`/v1/routines/${id}/versions/1/restore`);
  expect(restored.body.error.code).toBe('definition_unreadable');
  const run = await runOnce(key, id);
  expect(run).toMatchObject({ state: 'failed', reason: 'blocked_definition' });
  expect(run.errorMessage).toContain('`tone`');
  expect((await runOnce(key, other)).state).toBe('succeeded');

  await createTickParts(service.deps).claim(new AbortController().signal);
  const runs = await key.get(`/v1/runs?trigger=schedule`);
  expect(new Set(runs.data.map((each: { routineId: string }) => each.routineId))).toEqual(new Set([id, other]));
  const paused = await key.post(`/v1/routines/${id}/pause`);
  expect(paused.status).toBe(200);
  const activated = await key.post(`/v1/routines/${id}/activate`);
  expect(activated.body.error.code).toBe('definition_unreadable');

  // The newer release reads it again.
  const kept = await database.row<{
    tone: string;
  }>`select definition ->> 'tone' as tone from routines where id = ${id}`;
  expect(kept).toEqual({ tone: 'dry' });
});

serviced('values of another type, in any field, are read without a fault of ours', async ({ service, key }) => {
  const { database } = service.deps;
  for (const name of definitionForm.names.filter((each) => !['model', 'limits'].includes(each))) {
    const id = await createRoutine(key);
    const value = ['mayPutOffHours', 'decisionHours'].includes(name) ? '"7"' : '7';
    const other = (column: Sql) => sql`jsonb_set(${column}, ${[name]}::text[], ${value}::jsonb)`;
    await changeRoutines(database, id, { definition: other });
    const read = await key.get(`/v1/routines/${id}`);
    expect([name, read.status]).toEqual([name, 200]);
    expect(read.data.stateReason).toContain(`\`${name}\``);
    expect((await key.get('/v1/routines')).status).toBe(200);
    expect((await key.post(`/v1/routines/${id}/preview`)).status).toBe(200);
    expect((await key.post(`/v1/routines/${id}/run`)).status).toBe(202);
  }
});
