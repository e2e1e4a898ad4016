import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { faultsOf, readHouse } from '#dev/scripts/house/measure.ts';

const BODY = 'const filler = 0;\n'.repeat(40);

async function houseOf(files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(path.join(tmpdir(), 'house-'));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    await writeFile(path.join(root, name), text);
  }
  return faultsOf(readHouse(root));
}

test('small files, wide doors, rooms above their budget, names used twice and barred words are found', async () => {
  const names = Array.from({ length: 41 }, (_, nth) => `name${nth}`).join(', ');
  const faults = await houseOf({
    'core/accounts/leads/index.ts': `export { ${names} } from './small.ts';\n`,
    'core/accounts/leads/small.ts': 'export function read() {}\nexport interface Lead {}\n',
    'core/usage/long.ts': `${BODY.repeat(8)}export async function read() {}\nexport const Lead = 1;\n`,
    'workflows/run.ts': BODY.repeat(9),
    'docs/page.md': 'Tokens are sold for want of room.\n',
    'test/core/usage/plans.test.ts': [
      "import { long } from '#core/usage/long.ts';",
      "import { usage } from '#core/usage/index.ts';",
      "import { timed } from '../../../bench/harness/measure.ts';",
      "import { signUp } from '#test/support/people.ts';\n",
    ].join('\n'),
  });
  expect(faults).toEqual({
    'files below 40 lines': ['core/accounts/leads/small.ts'],
    'files above 300 lines': ['core/usage/long.ts', 'workflows/run.ts'],
    'doors of more than 40 names': ['core/accounts/leads/index.ts'],
    'rooms above their budget': ['workflows'],
    'files of core outside the districts': [],
    'tests in no folder of the code': [],
    'tests that import a bench': ['test/core/usage/plans.test.ts'],
    'tests with a service that reach behind a door of core': ['test/core/usage/plans.test.ts > core/usage/long.ts'],
    'imports of core that point up': [],
    'exports of core with the name of another': ['read', 'Lead'],
    'tables with several writers': [],
    'files with barred words': ['docs/page.md'],
  });
});

test('a small file that three others share stays, and so does an entry', async () => {
  const user = `import { shared } from './shared.ts';\n${BODY}`;
  const faults = await houseOf({
    'core/accounts/leads/shared.ts': 'export const shared = 1;\n',
    'core/accounts/leads/one.ts': user,
    'core/accounts/leads/two.ts': user,
    'core/accounts/leads/three.ts': user,
    'core/accounts/leads/entry.ts': `import { filler } from './one.ts';\n`,
    'docs/page.md': 'The caller reads this.\n',
  });
  expect(Object.values(faults).flat()).toEqual([]);
});

test('a file in no district, an import that points up and one past a door are found', async () => {
  const importing = (...from: string[]) => `${from.map((each) => `import { x } from '${each}';\n`).join('')}${BODY}`;
  const faults = await houseOf({
    'core/loose/rules.ts': BODY,
    'core/usage/index.ts': BODY,
    'core/usage/totals.ts': BODY,
    'core/scheduling/index.ts': importing('#core/usage/index.ts', './tick.ts'),
    'core/scheduling/tick.ts': importing('#core/usage/totals.ts', '#core/core.ts'),
    'core/core.ts': importing('#core/foundation/audit/index.ts', '#core/usage/index.ts'),
    'core/foundation/audit/index.ts': importing('#core/usage/index.ts', '#core/services.ts'),
    'core/services.ts': importing('#core/scheduling/tick.ts'),
  });
  expect(faults).toMatchObject({
    'files of core outside the districts': ['core/loose/rules.ts'],
    'imports of core that point up': [
      'core/core.ts > core/usage/index.ts',
      'core/foundation/audit/index.ts > core/usage/index.ts',
      'core/foundation/audit/index.ts > core/services.ts',
      'core/scheduling/tick.ts > core/usage/totals.ts',
    ],
  });
});

test('a test that lies where no code does is found', async () => {
  const faults = await houseOf({
    'lib/outbound/fetch.ts': BODY,
    'test/core/usage/totals.test.ts': BODY,
    'test/core/quota/totals.test.ts': BODY,
    'test/lib/ids.test.ts': BODY,
    'test/lib/outbound/fetch.test.ts': BODY,
    'test/lib/inbound/fetch.test.ts': BODY,
    'test/faults/kills/kills.test.ts': BODY,
    'test/various/kills.test.ts': BODY,
    'test/soak.ts': BODY,
  });
  expect(faults['tests in no folder of the code']).toEqual([
    'test/core/quota/totals.test.ts',
    'test/lib/inbound/fetch.test.ts',
    'test/various/kills.test.ts',
  ]);
});

test('a table that two subjects write is found, in each form of a statement, and a comment writes none', async () => {
  const faults = await houseOf({
    // oxlint-disable-next-line eslint-js/no-restricted-syntax -- a source that the check reads, and no statement
    'core/usage/own.ts': `${BODY}db.run\`insert into leads (id) values (1)\`;\ndb.run\`update usage_days set day = 1\`;\n`,
    'core/accounts/leads/update.ts': `${BODY}db.run\`update leads l\n  set id = 2\`;\n`,
    // oxlint-disable-next-line eslint-js/no-restricted-syntax -- a source that the check reads, and no statement
    'core/accounts/billing/delete.ts': `${BODY}/** A later update usage_days set is not meant. */\ndb.run\`delete from plans where id = 1\`;\n`,
    'core/accounts/identity/batch.ts': `${BODY}deleteBatch(db, {\n  table: 'plans',\n  where: sql\`true\`,\n});\n`,
  });
  expect(faults['tables with several writers']).toEqual([
    'leads: core/accounts/leads, core/usage',
    'plans: core/accounts/billing, core/accounts/identity',
  ]);
});
