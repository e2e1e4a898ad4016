import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createFrameOpener, createFrameSealer, createStoreBox, type FrameContent } from '#lib/envelope/index.ts';
import { INSTANCE, keys } from './sample.ts';

const digest = randomBytes(32);
const options = { keys, digest, issuer: INSTANCE, requestId: 'run_1/0/0' };
const ALL: FrameContent[] = [{ type: 'accepted' }, { type: 'alive' }, { type: 'result', value: { text: 'done' } }];

async function sealAll(contents: FrameContent[] = ALL): Promise<string[]> {
  const seal = createFrameSealer(options);
  return Promise.all(contents.map(seal));
}

async function openAll(lines: string[], changed: Partial<typeof options> = {}) {
  const open = createFrameOpener({ ...options, ...changed });
  const opened: FrameContent[] = [];
  for (const line of lines) opened.push((await open(line)).content);
  return opened;
}

test('frames open in their order', async () => {
  expect(await openAll(await sealAll())).toEqual(ALL);
});

test('a gap, a repeat, another order and a frame after the last are refused', async () => {
  const [first, second, third] = (await sealAll()) as [string, string, string];
  for (const lines of [
    [first, third],
    [first, first],
    [second],
    [third],
    [first, second, second],
    [first, second, third, third],
  ]) {
    await expect(openAll(lines)).rejects.toMatchObject({ name: 'EnvelopeError' });
  }
});

test('a response begins with its acceptance, once', async () => {
  await expect(openAll(await sealAll([{ type: 'alive' }]))).rejects.toThrow();
  await expect(openAll(await sealAll([{ type: 'accepted' }, { type: 'accepted' }]))).rejects.toThrow();
});

test('the response to another request, of another instance or altered does not open', async () => {
  const lines = await sealAll();
  await expect(openAll(lines, { digest: randomBytes(32) })).rejects.toThrow();
  await expect(openAll(lines, { issuer: 'runtime-2' })).rejects.toThrow();
  await expect(openAll(lines, { requestId: 'run_1/0/1' })).rejects.toThrow();
  const text = lines[0]!;
  for (let n = 0; n < text.length; n += 7) {
    const bytes = Buffer.from(text, 'latin1');
    bytes[n]! ^= 1;
    await expect(openAll([bytes.toString('latin1')])).rejects.toThrow();
  }
});

test('what is stored opens for its own request only', async () => {
  const box = createStoreBox(keys);
  const sealed = await box.seal('{"a":1}', 'run_1/0/0');
  expect(await box.open(sealed, 'run_1/0/0')).toBe('{"a":1}');
  await expect(box.open(sealed, 'run_1/0/1')).rejects.toThrow();
});
