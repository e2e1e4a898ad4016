import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { environmentOf, keyOf, terminal } from '#test/cli/terminal.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { activeRoutine, runEnded } from '#test/support/routines.ts';

const execute = promisify(execFile);
const test = serviceTest({ worker: true }).extend('blocks', { scope: 'file' }, async () => {
  const read = (page: string) => readFile(path.join(import.meta.dirname, '../..', page), 'utf8');
  const pages = `${await read('README.md')}${await read('docs/tour.md')}`;
  return [...pages.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
});

/** Splits a block into commands. Each command begins a line. */
function commandsIn(block = ''): string[] {
  return block
    .replaceAll(/^#.*\n/gm, '')
    .split(/\n(?=\S)/)
    .map((command) => command.trim())
    .filter((command) => command !== '' && !command.startsWith("}'"));
}

test('README and tour have three blocks of commands, and the first is what sets up and tests', ({ blocks }) => {
  expect(blocks).toHaveLength(3);
  expect(commandsIn(blocks[0]).map((command) => command.replace(/ +#.*/, ''))).toStrictEqual([
    'npm ci && npm start',
    'npm ci && npm test',
  ]);
});

test('the tour with curl works as it is printed', async ({ blocks, key, service }) => {
  let ids = { rtn: '', run: '' };
  const responses: string[] = [];
  const commands = (blocks[1] ?? '').replaceAll(/^#.*\n/gm, '').match(/^curl (?:[^'\n]|'[^']*')+/gm);
  for (const command of commands ?? []) {
    const script = `API=${service.url}; auth='Authorization: Bearer ${keyOf(key)}'; json='Content-Type: application/json'
${command.replaceAll(/(rtn|run)_…/g, (_, kind: 'rtn' | 'run') => ids[kind])}`;
    const { stdout } = await execute('bash', ['-euc', script]);
    responses.push(stdout);
    const [made] = /"id":"(rtn|run)_\w+"/.exec(stdout)?.slice(0, 1) ?? [];
    const id = made?.slice('"id":"'.length, -1) ?? '';
    if (id.startsWith('rtn_') && ids.rtn === '') ids = { ...ids, rtn: id };
    if (id.startsWith('run_') && / (-X POST|-d) /.test(command)) {
      ids = { ...ids, run: id };
      expect((await runEnded(key, id)).state).toBe('succeeded');
    }
  }
  const [models, created, tooEarly, started, read, active, changed, retried, events] = responses;
  expect(responses).toHaveLength(9);
  expect(models).toContain('fixture/writer-small');
  expect(created).toContain('"state":"draft"');
  expect(tooEarly).toContain('successful_run_required');
  expect(started).toContain('"state":"queued"');
  expect(read).toContain('"state":"succeeded"');
  expect(active).toContain('"state":"active"');
  expect(changed).toContain('"schedule":"@daily"');
  expect(retried).toContain('"site":"example.org"');
  expect(events).toContain('event: state');
});

test('the tour in a terminal works as it is printed', async ({ blocks, key }) => {
  await activeRoutine(key, { name: 'Daily site check' });
  const user = await terminal();
  const [build, , ...calls] = commandsIn(blocks[2]).map((line) => line.replace(/ {2,}#.*/, ''));
  expect(build).toBe('npm run cli:build');
  for (const call of calls) {
    const [, ...words] = call.match(/"[^"]*"|\S+/g) ?? [];
    const args = words.slice(1).map((word) => word.replaceAll('"', ''));
    const { code, stderr } = await user.run(args, { env: environmentOf(key) });
    expect({ call, code, stderr: code === 0 ? '' : stderr }).toEqual({ call, code: 0, stderr: '' });
  }
  expect(calls).toHaveLength(8);
});
