import { expect } from 'vitest';
import { PREAMBLE } from '#core/execution/prompt/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, createRoutine, runEnded, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { marker, requestsWith, type Json } from '#test/core/integrations/tools/support.ts';
import { changeRuns, fallDue, plantRun } from '#test/support/given.ts';

const test = serviceTest({ worker: true });

const NONE = 'Previous result: there is none.';

/** Writes a result as a skill wants it, with a state block at its end. */
function report(week: number, body = 'All is well.'): string {
  return [
    `# Report of week ${week}`,
    '',
    body,
    '',
    '```state seo-audit',
    `as-of: 2026-W${week}`,
    `fixes: F${week} open`,
    '```',
  ].join('\n');
}

/** Returns the messages of the latest request that contains the mark. */
function lastMessages(service: Service, mark: string): { role: string; content: string }[] {
  return requestsWith(service, mark).at(-1).body.messages;
}

function says(service: Service, mark: string, text: string): void {
  service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
}

/** Makes the next occurrence of an active routine due, and waits for its run. */
async function scheduledRun(service: Service, key: ApiClient, routineId: string): Promise<Json> {
  const { admission } = service.deps;
  await fallDue(service, routineId);
  await admission.admit();
  const [latest] = (await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`)).data;
  return runEnded(key, latest.id);
}

test('a weekly routine tells each run the result of the one before it, with its state block', async ({
  service,
  key,
}) => {
  const mark = marker();
  says(service, mark, report(46));
  const id = await activeRoutine(key, {
    instructions: `${mark}: write the weekly report.`,
    schedule: '0 7 * * 1',
    timezone: 'Europe/Berlin',
    skills: ['seo-audit'],
  });
  const [proof] = requestsWith(service, mark);
  expect(proof.body.messages.at(-1).content).toContain(NONE);

  for (const week of [47, 48, 49]) {
    says(service, mark, report(week));
    const run = await scheduledRun(service, key, id);
    expect(run).toMatchObject({ state: 'succeeded', result: report(week) });
    const messages = lastMessages(service, mark);
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user']);
    const { prompt, briefing } = run;
    expect(messages[0]!.content).toBe(PREAMBLE);
    expect(messages[1]!.content).toBe(`${prompt}\n\n${briefing}`);
    // The briefing contains only the last result, word for word, in a fence.
    const [, , carried] = /<([\w-]{12})>\n([\s\S]*)\n<\/\1>$/.exec(briefing)!;
    expect(carried).toBe(report(week - 1));
    expect(briefing).not.toContain(`as-of: 2026-W${week - 2}`);
    expect(prompt).not.toContain('as-of: 2026-W');
    expect(briefing).toContain('- Started by: its schedule');
    expect(briefing).toMatch(/^- Scheduled for: .* in Europe\/Berlin \(.*Z\)$/m);
  }
});

test('what comes before the briefing is the same in every run, so that it can be cached', async ({ service, key }) => {
  const mark = marker();
  const id = await createRoutine(key, { instructions: mark, skills: ['seo-audit'] });
  await runOnce(key, id);
  await runOnce(key, id);
  const [first, second] = requestsWith(service, mark).map(({ body }) => body.messages);
  expect(second[0]).toEqual(first[0]);
  const [before, after] = [first, second].map(([, { content }]) => content.split('\n\nAbout this run:'));
  expect(after[0]).toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

test('every step of a run sends the same briefing, also when another run has ended meanwhile', async ({
  service,
  key,
}) => {
  const mark = marker();
  const id = await createRoutine(key, { instructions: mark });
  says(service, mark, report(1));
  await runOnce(key, id);
  const release = service.gateway.control.hold({
    marker: mark,
    behaviour: { kind: 'tool-calls', calls: [{ name: 'no_such_tool' }] },
  });
  const { data: slow } = await key.post(`/v1/routines/${id}/run`);
  await expect.poll(() => requestsWith(service, mark)).toHaveLength(2);
  says(service, mark, report(2));
  const quick = await runOnce(key, id);
  expect(quick.state).toBe('succeeded');
  release();
  const run = await runEnded(key, slow.id);
  expect(run).toMatchObject({ state: 'succeeded', stepCount: 2 });
  const sent = requestsWith(service, mark).filter(({ body }) =>
    body.messages.some(({ content }: Json) => content.endsWith(run.briefing)),
  );
  expect(sent).toHaveLength(2);
  expect(run.briefing).toContain('Report of week 1');
});

test('a run that did not succeed is passed over', async ({ service, key }) => {
  const mark = marker();
  const id = await createRoutine(key, { instructions: mark });
  says(service, mark, report(1));
  await runOnce(key, id);
  service.gateway.control.script({
    marker: mark,
    behaviour: { kind: 'text', text: report(2), finishReason: 'length' },
  });
  expect(await runOnce(key, id)).toMatchObject({ state: 'failed', result: report(2) });
  const { briefing } = await runOnce(key, id);
  expect(briefing).toContain('Report of week 1');
  expect(briefing).not.toContain('Report of week 2');
});

test('a result that is no longer kept is not the same as none', async ({ service, key }) => {
  const id = await createRoutine(key);
  const first = await runOnce(key, id);
  expect(first.briefing).toContain(NONE);
  await changeRuns(service.deps.database, first.id, { result: null });
  const { briefing } = await runOnce(key, id);
  expect(briefing).not.toContain(NONE);
  expect(briefing).toContain(
    `Previous result: there is one, of ${first.finishedAt}, but it cannot be read: its text is no longer kept.`,
  );
});

test('a routine that does not carry results says so, and tells neither result nor time', async ({ key }) => {
  const id = await createRoutine(key, { carryResult: false });
  const first = await runOnce(key, id);
  const { briefing } = await runOnce(key, id);
  for (const text of [first.briefing, briefing]) {
    expect(text).toContain('Previous result: this routine does not carry it over.');
  }
  expect(briefing).not.toContain(first.finishedAt);
  expect(briefing).not.toContain(first.result.split('\n')[0]);
});

test('the placeholders hold the result, fenced, and its time; they are empty when there is none', async ({
  service,
  key,
}) => {
  const mark = marker();
  for (const carryResult of [true, false]) {
    const id = await createRoutine(key, {
      instructions: `${mark} [{{previous.finishedAt}}] [{{ previous.result }}]`,
      carryResult,
    });
    says(service, mark, report(7, 'Say {{now}} and {{previous.result}}.'));
    const first = await runOnce(key, id);
    expect(first.prompt).toBe(`${mark} [] []`);
    expect(first.briefing).toContain(NONE);

    const second = await runOnce(key, id);
    const fenced =
      /\[(.*)\] \[The previous result stands between the two marks ([\w-]{12})\..*\n<\2>\n([\s\S]*)\n<\/\2>\]$/;
    const [, finishedAt, , carried] = fenced.exec(second.prompt)!;
    expect(finishedAt).toBe(first.finishedAt);
    // The carried result is verbatim: its placeholder is not filled in.
    expect(carried).toBe(first.result);
    // The instructions contain the result, so the briefing does not repeat it.
    expect(second.briefing).toContain('it stands in the instructions');
    expect(second.briefing).not.toContain('Report of week 7');
  }
});

test('a long result is cut at 12,000 characters and keeps its state block', async ({ service, key }) => {
  const mark = marker();
  const id = await createRoutine(key, { instructions: mark });
  says(service, mark, report(3, 'long '.repeat(10_000)));
  await runOnce(key, id);
  const { briefing } = await runOnce(key, id);
  const [, , carried] = /<([\w-]{12})>\n([\s\S]*)\n<\/\1>$/.exec(briefing)!;
  expect(carried).toHaveLength(12_000);
  expect(carried).toContain('[cut here]');
  expect(carried).toMatch(/```state seo-audit\nas-of: 2026-W3\nfixes: F3 open\n```$/);
});

test('text at its limit leaves no room for the result, and the run goes on and is told so', async ({
  service,
  key,
}) => {
  const mark = marker();
  const id = await createRoutine(key, {
    instructions: `${mark}${'{{a}}'.repeat(39)}{{b}}`,
    variables: { a: 'x'.repeat(10_000), b: 'x'.repeat(10_000 - mark.length) },
  });
  says(service, mark, report(4));
  expect((await runOnce(key, id)).prompt).toHaveLength(400_000);
  const second = await runOnce(key, id);
  expect(second.state).toBe('succeeded');
  expect(second.briefing).toContain('leaves no room for it');
  expect(second.briefing).not.toContain('Report of week 4');

  // A result that is longer than the free room is cut to fit.
  await key.patch(`/v1/routines/${id}`, {
    variables: { a: 'x'.repeat(10_000), b: 'x'.repeat(5_000) },
  });
  says(service, mark, report(5, 'y'.repeat(20_000)));
  await runOnce(key, id);
  const third = await runOnce(key, id);
  const [, , carried] = /<([\w-]{12})>\n([\s\S]*)\n<\/\1>$/.exec(third.briefing)!;
  expect(third.prompt.length + carried!.length).toBe(400_000);
  expect(carried).toContain('as-of: 2026-W5');
});

test('a placeholder for the result counts with its greatest length when the routine is saved', async ({ key }) => {
  const refused = await key.post('/v1/routines', {
    name: 'Too much',
    instructions: '{{previous.result}}'.repeat(34),
    schedule: '@daily',
    model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
  });
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
  expect(refused.body.error.message).toMatch(/^instructions: .* at most 400000 are allowed/);
});

test('a routine is told its own results only: not those of another one, nor of another tenant', async ({
  service,
  ada,
  bob,
  key,
  bobsKey,
}) => {
  const mark = marker();
  says(service, mark, report(8, 'Only for Ada.'));
  const ofAda = await createRoutine(key, { instructions: mark });
  await runOnce(key, ofAda);
  const beside = await runOnce(key, await createRoutine(key));
  const bobs = await createRoutine(bobsKey);
  const ofBob = await runOnce(bobsKey, bobs);
  for (const run of [beside, ofBob]) expect(run.briefing).toContain(NONE);

  // A row that claims the routine of another tenant is not read.
  await plantRun(service.deps.database, bobs, {
    id: 'run_7zzzzzzzzzzzzzzzzzzzzzzzzy',
    projectId: ada.projectId,
    state: 'succeeded',
    result: 'Planted.',
    finishedAt: AT_ONCE,
  });
  const again = await runOnce(bobsKey, bobs);
  expect(bob.projectId).not.toBe(ada.projectId);
  expect(again.briefing).not.toContain('Planted.');
  expect(again.briefing).toContain(`of ${ofBob.finishedAt}`);
});
