/**
 * Entry of `npm run measure`: prints the sizes of the rooms, the counts of short functions, and the writers of the
 * tables. `-- once` lists the short functions that are called once, `-- docstrings` the private ones of at most 12
 * lines with a docstring, and `-- comments --seed 7` 150 comments at random, to be read aloud.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { figuresOf, readHouse } from './measure.ts';
import { sharedTables, writersOf } from './writers.ts';

const SHORT_LINES = 8;
const PLAIN_LINES = 12;
const READ_ALOUD = 150;
const COMMENT = /^[ \t]*\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/[^\n]*\n)+/gm;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string', default: '1' } },
});
const { sources: all, ...house } = readHouse(path.resolve(import.meta.dirname, '../../..'));
const server = all.filter(({ name }) => !name.startsWith('ui/'));
const READ = /^(?:bench|cli|dev|sdk)\/(?!.*\/generated\/).*\.ts$/;
const commented = [
  ...server,
  ...[...house.documents].map(([name, text]) => ({ name, text })).filter(({ name }) => READ.test(name)),
];
const lists: Readonly<Record<string, () => readonly string[]>> = {
  comments: () => atRandom(comments(), Number(values.seed)).slice(0, READ_ALOUD),
  once: calledOnce,
  docstrings: plainDocstrings,
  rooms: () => [
    figuresOf({ sources: all, ...house }),
    '',
    `comments: ${share()} % of the characters outside of ui/`,
    `docstrings of private functions of at most ${PLAIN_LINES} lines: ${plainDocstrings().length}`,
    `private functions of at most ${SHORT_LINES} lines that are called once: ${calledOnce().length}`,
    `tables: ${writersOf(server).size}; with several writers: ${sharedTables(server).join('; ') || 'none'}`,
  ],
};
const list = lists[positionals[0] ?? 'rooms'];
if (list === undefined) throw new Error(`one of ${Object.keys(lists).join(', ')}`);
console.log(list().join('\n'));

function share(): string {
  const characters = comments().reduce((sum, each) => sum + each.length, 0);
  return ((100 * characters) / commented.reduce((sum, { text }) => sum + text.length, 0)).toFixed(1);
}

/** Returns every comment outside of ui/ with its place, on one line. */
function comments(): string[] {
  return commented.flatMap(({ name, text }) =>
    [...text.matchAll(COMMENT)]
      .filter(([comment]) => !comment.includes('oxlint-disable'))
      .map(({ 0: comment, index }) => {
        const words = comment.replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ').replace(/\/\*\*|\*\/|^\s*\/\//g, '');
        return `${name}:${text.slice(0, index).split('\n').length}: ${words.trim()}`;
      }),
  );
}

interface Private {
  readonly place: string;
  readonly name: string;
  readonly lines: number;
  readonly isDocumented: boolean;
  readonly text: string;
}

/**
 * Finds the private functions at the top level of a file. The formatter puts their closing brace into the first column.
 */
function privateFunctions(): Private[] {
  return server.flatMap(({ name: file, text }) =>
    [...text.matchAll(/^(?:async )?function\*? (\w+)[\s\S]*?^\}$/gm)].map(({ 0: whole, 1: name = '', index }) => ({
      place: `${file}:${text.slice(0, index).split('\n').length}: ${name}`,
      name,
      lines: whole.split('\n').length,
      isDocumented: text.slice(0, index).endsWith('*/\n'),
      text,
    })),
  );
}

function plainDocstrings(): string[] {
  return privateFunctions()
    .filter(({ lines, isDocumented }) => isDocumented && lines <= PLAIN_LINES)
    .map(({ place }) => place);
}

function calledOnce(): string[] {
  return privateFunctions()
    .filter(
      ({ lines, name, text }) => lines <= SHORT_LINES && text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length === 2,
    )
    .map(({ place }) => place);
}

/** Shuffles a list; the same seed gives the same order. */
function atRandom(items: readonly string[], seed: number): string[] {
  let state = seed;
  const keyed = items.map((item) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return { item, key: state };
  });
  return keyed.toSorted((a, b) => a.key - b.key).map(({ item }) => item);
}
