import { expect } from 'vitest';
import { serviceTest } from '#test/support/fixtures.ts';
import { createRoutine, runEnded } from '#test/support/routines.ts';
import { openStream, type StreamedEvent } from './event-source.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

const test = serviceTest({ worker: true })
  .extend('follow', ({ key }) => async (runId: string) => {
    const stream = await openStream(`${key.baseUrl}/v1/runs/${runId}/events`, key.headers);
    return { ...stream, untilText: () => untilText(stream) };
  })
  /** Starts a run whose model writes this text in pieces of 80 characters. */
  .extend('startRun', ({ service, key }) => async (text: string, form = {}): Promise<string> => {
    service.gateway.control.script({ behaviour: { kind: 'text', text }, form: { pauseMs: 50, ...form } });
    return (await key.post(`/v1/routines/${await createRoutine(key)}/run`)).data.id;
  })
  .extend('pieces', ({ service }) => (runId: string) => {
    return service.deps.database.rows`select from live_texts where run_id = ${runId}`;
  });

test.afterEach(({ service }) => service.gateway.control.reset());

const REPORT = Array.from(
  { length: 60 },
  (_, n) => `Line ${n}: all pages answer, and the ${'long '.repeat(12)}one 🚀.\n`,
).join('');

async function untilText(stream: { next(): Promise<StreamedEvent> }): Promise<StreamedEvent> {
  for (;;) {
    const event = await stream.next();
    if (event.event === 'text') return event;
  }
}

/** Joins the text events as a follower does. */
function said(events: readonly StreamedEvent[]): string {
  return events
    .filter(({ event }) => event === 'text')
    .reduce((text, { data }) => (data.begins ? data.text : text + data.text), '');
}

test('followers see the text of a step while it is written, from its beginning, however late they come', async ({
  key,
  follow,
  startRun,
  pieces,
}) => {
  const runId = await startRun(REPORT);
  const first = await follow(runId);
  const begun = await first.untilText();
  expect(begun).toMatchObject({ id: '', data: { index: 0, attempt: 1, begins: true } });
  const late = await follow(runId);
  const events = [begun, ...(await first.rest())];
  const texts = events.filter(({ event }) => event === 'text');
  expect(texts.length).toBeGreaterThan(2);
  expect(texts.filter(({ data }) => data.begins)).toHaveLength(1);
  expect(REPORT.startsWith(said(events))).toBe(true);
  expect(said(events).length).toBeGreaterThan(REPORT.length / 2);
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['step', 'state']);
  expect(REPORT.startsWith(said(await late.rest()))).toBe(true);
  expect((await runEnded(key, runId)).result).toBe(REPORT);
  await expect.poll(() => pieces(runId)).toEqual([]);
});

test('a run that no one follows has no text on record, and one that is followed midway is told all', async ({
  key,
  follow,
  startRun,
  pieces,
}) => {
  const runId = await startRun(REPORT, { pauseMs: 100 });
  await expect.poll(async () => (await key.get(`/v1/runs/${runId}`)).data.state).toBe('running');
  const other = await follow(await startRun(REPORT));
  await other.untilText();
  await other.untilText();
  other.close();
  expect(await pieces(runId)).toEqual([]);
  const stream = await follow(runId);
  const { data } = await stream.untilText();
  expect(data.begins).toBe(true);
  expect(data.text.length).toBeGreaterThan(500);
  expect(REPORT.startsWith(data.text)).toBe(true);
  stream.close();
});

test('thinking is not part of the text', async ({ follow, startRun, key }) => {
  const runId = await startRun(`<think>\n${'The secret plan. '.repeat(60)}\n</think>\n\n${REPORT}`, { pauseMs: 10 });
  const events = await (await follow(runId)).rest();
  expect(said(events)).toMatch(/^Line 0: /);
  expect(events.filter(({ event }) => event === 'text').some(({ data }) => data.text.includes('secret'))).toBe(false);
  expect((await runEnded(key, runId)).result).toBe(REPORT);
});

test('a long text comes in pieces, and each character once', async ({ follow, startRun, key }) => {
  const text = REPORT.repeat(FULL_SIZE ? 80 : 20);
  expect(text.length).toBeGreaterThan(FULL_SIZE ? 400_000 : 100_000);
  const runId = await startRun(text, { pauseMs: 2 });
  const events = await (await follow(runId)).rest();
  const told = said(events);
  expect(told.length).toBeGreaterThan(10_000);
  expect(text.startsWith(told)).toBe(true);
  expect(Math.max(...events.filter(({ event }) => event === 'text').map(({ data }) => data.text.length))).toBeLessThan(
    32_001,
  );
  expect((await runEnded(key, runId)).result).toBe(text);
});
