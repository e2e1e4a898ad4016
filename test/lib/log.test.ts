import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

/** Returns the standard output of a process with this source. */
async function linesOf(source: string): Promise<Record<string, unknown>[]> {
  const script = `
    import { createLog, withLogFields } from '#lib/log.ts';
    const log = createLog({ level: 'info', name: 'child' });
    ${source}`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const output = await text(child.stdout);
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function messages(source: string) {
  return (await linesOf(source)).map(({ msg }) => msg);
}

test.each([
  ['ends by itself', `log.info('one'); log.info('two');`],
  ['is told to exit', `log.info('one'); log.info('two'); process.exit(3);`],
  ['fails', `log.info('one'); log.info('two'); throw new Error('uncaught');`],
  ['exits in a later turn', `log.info('one'); setTimeout(() => { log.info('two'); process.exit(); }, 20);`],
])('the last lines of a process that %s are written, in order', async (_how, source) => {
  expect(await messages(source)).toEqual(['one', 'two']);
});

test('lines of one turn are whole lines of their own, however long', async () => {
  const lines = await linesOf(`for (let i = 0; i < 50; i += 1) log.info({ text: 'é'.repeat(20_000) }, String(i));`);
  expect(lines.map(({ msg }) => msg)).toEqual(Array.from({ length: 50 }, (_, index) => String(index)));
  expect(lines.every((line) => line['text'] === 'é'.repeat(20_000))).toBe(true);
});

test('a line carries the fields of the work it was logged in, and no credential', async () => {
  const [line] = await linesOf(
    `withLogFields({ requestId: 'request-1' }, () => log.info({ token: 'canary', of: { secret: 'canary' } }, 'one'));`,
  );
  expect(line).toMatchObject({
    requestId: 'request-1',
    token: '[redacted]',
    of: { secret: '[redacted]' },
  });
});

test.each(['Bearer', 'Basic', 'Token', 'ApiKey', 'Negotiate', 'DPoP'])(
  'an error that quotes an Authorization header of the scheme %s is logged without the credential',
  async (scheme) => {
    const [line] = await linesOf(
      `const cause = new Error('sent {"authorization":"${scheme} canary"}');
       log.error({ err: new Error('Authorization: ${scheme} canary', { cause }) }, 'one');`,
    );
    expect(line).toMatchObject({
      err: {
        message: `Authorization: ${scheme} [redacted]`,
        cause: { message: `sent {"authorization":"${scheme} [redacted]"}` },
      },
    });
    expect(JSON.stringify(line)).not.toContain('canary');
  },
);
