import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitJson, type JsonLimits } from '#core/clients/mcp/json-limits.ts';
import { TIMES } from '#test/support/properties.ts';

/** Counts the objects of a value, and the commas and containers of its text. */
function countOf(value: unknown): JsonLimits {
  if (typeof value !== 'object' || value === null) return { objects: 0, values: 0 };
  const members = Object.values(value);
  const inside = members.map(countOf);
  return {
    objects: inside.reduce((sum, { objects }) => sum + objects, Array.isArray(value) ? 0 : 1),
    values: inside.reduce((sum, { values }) => sum + values, 1) + Math.max(members.length - 1, 0),
  };
}

function inChunks(text: string, size: number): Response {
  const bytes = Buffer.from(text);
  const starts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => n * size);
  return new Response(ReadableStream.from(starts.map((at) => bytes.subarray(at, at + size))));
}

/** Returns the text after it passed the limit; undefined if it was refused. */
async function through(text: string, limits: JsonLimits, chunk: number) {
  const refused: string[] = [];
  const limited = limitJson(inChunks(text, chunk), limits, ({ kind }) => refused.push(kind));
  const read = await limited.text().catch((error: unknown) => error);
  expect(refused).toEqual(typeof read === 'string' ? [] : ['too_large']);
  return typeof read === 'string' ? read : undefined;
}

const json = fc.oneof(
  fc.jsonValue(),
  fc.jsonValue({ stringUnit: fc.constantFrom('"', '\\', '{', '[', ',', 'a', '\n', 'é') }),
);
/** Writes a value on one line, on many lines, or as an event of a stream whose other lines contain quotes. */
const written = fc.tuple(json, fc.constantFrom('line', 'lines', 'events')).map(([value, how]) => {
  const text = JSON.stringify(value, null, how === 'line' ? 0 : 1);
  if (how !== 'events') return { value, text };
  const lines = text.split('\n').map((line) => `: "\\\r\ndata: ${line}\r\nid: \\`);
  return { value, text: `event: "message\n${lines.join('\n')}\n\n` };
});

test('exactly as much JSON passes as the limits say, in any pieces', async () => {
  await fc.assert(
    fc.asyncProperty(written, fc.integer({ min: 1, max: 40 }), async ({ value, text }, chunk) => {
      const count = countOf(value);
      expect(await through(text, count, chunk)).toBe(text);
      if (count.values === 0) return;
      expect(await through(text, { ...count, values: count.values - 1 }, chunk)).toBeUndefined();
      if (count.objects === 0) return;
      expect(await through(text, { ...count, objects: count.objects - 1 }, chunk)).toBeUndefined();
    }),
    { numRuns: 300 * TIMES },
  );
});

test('of a response without end no more is read than the limit takes', async () => {
  let read = 0;
  const chunk = Buffer.from('[],'.repeat(1_000));
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      read += chunk.length;
      controller.enqueue(chunk);
    },
  });
  const limits = { objects: 1_000, values: 10_000 };
  const limited = limitJson(new Response(endless), limits, () => undefined);
  await expect(limited.text()).rejects.toMatchObject({ kind: 'too_large' });
  // The limit allows five chunks, and some more wait in the pipe.
  expect(read).toBeLessThan(10 * chunk.length);
});
