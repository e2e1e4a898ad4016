import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { terminal } from './terminal.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILES = ['ci/github-action/action.yml', 'ci/github-action/example.yml', 'ci/gitlab/routines.gitlab-ci.yml'];

/** Lists all texts of a file that a shell runs. */
function scriptsOf(value: unknown, name = ''): string[] {
  if (typeof value === 'string') return /^(?:run|script|before_script|after_script)$/.test(name) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((each) => scriptsOf(each, name));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) => scriptsOf(each, key));
}

test.for(FILES)('every command of %s exists, with its options', async (file) => {
  const scripts = scriptsOf(parse(await readFile(path.join(ROOT, file), 'utf8')));
  const lines = scripts.flatMap((script) => script.replaceAll('\\\n', ' ').split('\n'));
  expect(lines.some((line) => /^\s*ras /.test(line))).toBe(true);
  const user = await terminal();
  for (const line of lines) {
    const words = /^\s*ras ([^>|]+)/.exec(line)?.[1]?.trim().split(/ +/);
    if (words === undefined) continue;
    const [command = ''] = words;
    const { code, stdout } = await user.run([command, '--help']);
    expect([command, code]).toEqual([command, 0]);
    for (const option of words.filter((word) => word.startsWith('--'))) {
      expect(stdout).toMatch(new RegExp(`(?:^|[ ,])${option}[ ,\n]`, 'm'));
    }
  }
});

test('the release workflow publishes with provenance and without a secret', async () => {
  const text = await readFile(path.join(ROOT, '.github/workflows/release.yml'), 'utf8');
  const { jobs } = parse(text);
  expect(Object.keys(jobs)).toEqual(['check', 'npm', 'pypi', 'image']);
  for (const name of ['npm', 'pypi', 'image']) {
    expect(jobs[name]).toMatchObject({ needs: 'check', permissions: { 'id-token': 'write' } });
  }
  expect(scriptsOf(jobs.npm).filter((line) => line.startsWith('npm publish'))).toEqual([
    'npm publish ./sdk --provenance --access public',
    'npm publish ./cli --provenance --access public',
  ]);
  expect(text).not.toContain('secrets.');
});
