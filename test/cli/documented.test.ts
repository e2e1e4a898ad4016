import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../cli/src/exit-codes.ts';
import { terminal } from './terminal.ts';

const PAGE = path.join(import.meta.dirname, '../../docs/cli.md');

test('every command of docs/cli.md exists, with its options', async () => {
  const page = await readFile(PAGE, 'utf8');
  const calls = [...page.matchAll(/\bras ([^\n`|)]+)/g)].map(([, words = '']) => words.split(/ +/));
  expect(calls.length).toBeGreaterThan(15);
  const user = await terminal();
  for (const words of calls) {
    const other = words.findIndex((word) => !/^[a-z]+$/.test(word));
    const command = words.slice(0, other === -1 ? words.length : other);
    const { code, stdout, stderr } = await user.run([...command, '--help']);
    expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
    for (const option of words.filter((word) => word.startsWith('-'))) {
      expect(stdout).toMatch(new RegExp(`(?:^|[ ,])${option}[ ,]`, 'm'));
    }
  }
});

test('docs/cli.md has every exit code', async () => {
  const page = await readFile(PAGE, 'utf8');
  const listed = [...page.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) => codes.split(', ').map(Number));
  expect(listed).toEqual([...new Set(Object.values(EXIT))].toSorted((a, b) => a - b));
});
