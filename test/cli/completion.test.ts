import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { terminal } from './terminal.ts';

async function completed(...words: readonly string[]): Promise<string[]> {
  const user = await terminal();
  const { code, stdout } = await user.run(['__complete', '--', ...words]);
  expect(code).toBe(0);
  return stdout.split('\n').filter(Boolean);
}

test('commands, options and their choices are completed', async () => {
  expect(await completed('rou')).toEqual(['routines']);
  expect(await completed('routines', 'a')).toEqual(['activate', 'archive']);
  expect(await completed('routines', 'list', '--')).toEqual([
    '--state',
    '--limit',
    '--version',
    '--json',
    '--text',
    '--fields',
    '--profile',
    '--api-url',
  ]);
  expect(await completed('runs', 'list', '--state', 's')).toEqual(['succeeded', 'skipped']);
  expect(await completed('mcp', 'install', '--client', 'claude')).toEqual(['claude-code', 'claude-desktop']);
  expect(await completed('--profile', 'x', 'completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await completed('import', '')).toEqual(['crontab', 'n8n', 'claude', 'openclaw', 'hermes']);
  expect(await completed('')).not.toContain('__complete');
  expect(await completed('nothing', 'here', 'x')).toEqual([]);
});

test('bash asks with the words up to the cursor', async () => {
  const user = await terminal();
  const { stdout: script } = await user.run(['completion', 'bash']);
  const asked = `
ras() { printf '%s\\n' "$@" >&3; echo 'the answer'; }
${script}
COMP_WORDS=(ras runs list --st more); COMP_CWORD=3
exec 3>&1; _ras; echo "[\${COMPREPLY[*]}]"; complete -p ras`;
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-c', asked]);
  expect(stdout).toBe('__complete\n--\nruns\nlist\n--st\n[the answer]\ncomplete -o default -F _ras ras\n');
});

test('there is a script for each of three shells', async () => {
  const user = await terminal();
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await user.run(['completion', shell]);
    expect(code).toBe(0);
    expect(stdout).toContain('ras __complete --');
  }
  expect(await user.run(['completion', 'cmd'])).toMatchObject({ code: 2 });
});
