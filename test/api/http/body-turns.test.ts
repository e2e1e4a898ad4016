import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { readJson } from '#api/http/body.ts';

/** Reads bodies of this length that arrive together, and counts the turns of the event loop that parse them. */
async function turnsOf(count: number, length: number): Promise<number> {
  const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(length) }));
  const parse = JSON.parse.bind(JSON);
  const turns: number[] = [];
  let turn = 0;
  let counting = setImmediate(function next() {
    turn += 1;
    counting = setImmediate(next);
  });
  const spy = vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    turns.push(turn);
    return parse(text);
  });
  try {
    const read = () => {
      const headers = {
        'content-type': 'application/json',
        'content-length': String(body.length),
      };
      const req = Object.assign(Readable.from([body]), { headers }) as unknown as IncomingMessage;
      return readJson({ req, res: {} as ServerResponse });
    };
    await Promise.all(Array.from({ length: count }, read));
  } finally {
    spy.mockRestore();
    clearImmediate(counting);
  }
  expect(turns).toHaveLength(count);
  return new Set(turns).size;
}

test('of thirty large bodies that arrive together one is parsed in a turn of the event loop, so that others get theirs', async () => {
  expect(await turnsOf(30, 60_000)).toBe(30);
});

test('small bodies do not wait', async () => {
  expect(await turnsOf(30, 1_000)).toBeLessThan(10);
});
