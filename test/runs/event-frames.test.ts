import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { framed } from '#api/http/event-stream.ts';

test('a stream without news is kept alive by comments, and an event is written as its three lines', async () => {
  async function* events() {
    await sleep(250);
    yield { event: 'state', id: '0.running', data: { text: 'two\nlines' } };
  }
  const frames: string[] = [];
  for await (const frame of framed(events(), 100)) frames.push(frame);
  expect(frames[0]).toBe('retry: 2000\n\n');
  expect(frames.slice(1, -1).every((frame) => frame === ': still here\n\n')).toBe(true);
  expect(frames.length).toBeGreaterThanOrEqual(3);
  expect(frames.at(-1)).toBe('event: state\nid: 0.running\ndata: {"text":"two\\nlines"}\n\n');
});

test('a fault while following ends the stream with it', async () => {
  async function* events() {
    yield { event: 'state', id: '0.queued', data: {} };
    throw new Error('the database is away');
  }
  const read = async () => {
    for await (const _frame of framed(events()));
  };
  await expect(read()).rejects.toThrow('the database is away');
});
