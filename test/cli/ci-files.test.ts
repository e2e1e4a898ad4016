import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { terminal } from './terminal.ts';
import { FULL_SIZE } from '#test/support/properties.ts';

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

test.runIf(FULL_SIZE)(
  'the release workflow generates the Python client before it is packed, as the tests of the client do',
  async () => {
    const { jobs } = parse(await readFile(path.join(ROOT, '.github/workflows/release.yml'), 'utf8'));
    const lines = scriptsOf(jobs.pypi);
    const steps = ['npm run -s sdk:document > openapi.json', 'python sdk/python/generate.py openapi.json'];
    const packed = lines.findIndex((line) => line.startsWith('python -m build sdk/python'));
    expect(lines.slice(packed - 2, packed)).toEqual(steps);
    const tested = await readFile(path.join(ROOT, 'test/real/generated-clients.test.ts'), 'utf8');
    const [, version] = /'(openapi-python-client==[\d.]+)'/.exec(tested) ?? [];
    expect(lines.join('\n')).toContain(version);
    const { stdout } = await promisify(execFile)('npm', ['run', '-s', 'sdk:document'], {
      cwd: ROOT,
      maxBuffer: 2 ** 24,
    });
    expect(JSON.parse(stdout).paths['/v1/routines'].get.operationId).toBe('listRoutines');
  },
);

test('the tag of a release is the version of every package', async () => {
  const { jobs } = parse(await readFile(path.join(ROOT, '.github/workflows/release.yml'), 'utf8'));
  const script = scriptsOf(jobs.check).find((line) => line.includes('GITHUB_REF_NAME')) ?? '';
  const check = (tag: string) =>
    promisify(execFile)('bash', ['-e', '-c', script], { cwd: ROOT, env: { ...process.env, GITHUB_REF_NAME: tag } });
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  await check(`v${version}`);
  await expect(check('v99.0.0')).rejects.toThrow('Command failed');
});
