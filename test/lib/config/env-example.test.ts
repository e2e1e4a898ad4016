import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { loadConfig, variables } from '#lib/config/index.ts';

interface Documented {
  readonly name: string;
  readonly value: string;
  /** True if the file sets the variable, false if a comment only shows it. A copy of the file would set it too. */
  readonly set: boolean;
  readonly comment: string;
}

const documented = readExample();

test('the example documents every variable, in the order of the schema, and no other', () => {
  expect(documented.map(({ name }) => name)).toEqual(Object.keys(variables));
});

test('every variable has a comment of its own', () => {
  for (const { name, comment } of documented) {
    expect([name, comment.length > 10 && comment.endsWith('.')]).toEqual([name, true]);
  }
});

test('nothing is set, what is required says so, and what has a default is shown with it', () => {
  for (const { name, value, set, comment } of documented) {
    const parsed = variables[name as keyof typeof variables].safeParse(undefined);
    const isRequired = comment.startsWith('Required: ');
    expect([name, set, isRequired]).toEqual([name, false, !parsed.success]);
    if (parsed.data !== undefined) expect([name, value]).toEqual([name, String(parsed.data)]);
  }
});

test('the file with its secrets filled in is a configuration', () => {
  const secret = () => randomBytes(32).toString('base64');
  const filled = Object.fromEntries(
    documented
      .filter(({ comment }) => comment.startsWith('Required: '))
      .map(({ name, value }) => [name, value === '' ? secret() : value]),
  );
  const origins = { PUBLIC_URL: 'https://api.test', UI_ORIGIN: 'https://app.test' };
  const chosen = { SIGN_UP: 'closed', TRUSTED_PROXIES: 'none', GATEWAY_API_KEY: 'key' };
  const settled = { ...filled, ...origins, ...chosen };
  expect(loadConfig('api', settled)).toMatchObject({ PORT: 3000 });
});

function readExample(): Documented[] {
  const text = readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8');
  // A blank line ends a variable's block. A block of comments alone, such as a heading, names no variable.
  return text.split(/\n{2,}/).flatMap((block) => {
    const lines = block.trim().split('\n');
    const last = /^(# )?([A-Z][A-Z0-9_]*)=(.*)$/.exec(lines.at(-1) ?? '');
    if (last === null) return [];
    const [, commented, name = '', value = ''] = last;
    const comment = lines
      .slice(0, -1)
      .map((line) => line.replace(/^# ?/, ''))
      .join(' ');
    return [{ name, value, set: commented === undefined, comment }];
  });
}
