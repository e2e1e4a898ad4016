import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const TESTS = path.resolve(import.meta.dirname, '../..');

/** Calls that take or count rows of all projects. A shared service has rows of other files too. */
const FOR_ALL =
  /\b(?:tick|tickInProcess|createTickParts|claimDueRoutines|sweepOpenRuns|settleLostCalls|replaceOpenRuns)\b|\bEVERY\b|scheduler\/tick|WORKFLOW\.scheduler/u;

test('a test that takes work of all projects has a service of its own', () => {
  const names = globSync('**/*.test.ts', { cwd: TESTS, exclude: ['dev/house/**'] });
  const files = names.map((name) => ({
    name,
    text: readFileSync(path.join(TESTS, name), 'utf8'),
  }));
  const sharing = files.filter(({ text }) => {
    const options = [...text.matchAll(/\bserviceTest\((?<options>[^;]*)\);/gu)].map(
      ({ groups }) => groups?.options ?? '',
    );
    const shared = options.some((each) => !/\b(?:own: true|env)\b/u.test(each));
    return shared || text.includes('sharedService(');
  });
  expect(sharing.length).toBeGreaterThan(50);
  expect(sharing.filter(({ text }) => FOR_ALL.test(text)).map(({ name }) => name)).toEqual([]);
});
