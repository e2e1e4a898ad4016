/**
 * Measures the structure of the code: files, exports, names and words. It reads sources as text, which works because
 * all sources are formatted.
 */
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { isAstray, isOutside, pointsUp, SUBJECTS } from './districts.ts';
import { sharedTables } from './writers.ts';

interface SourceFile {
  /** Path from the root of the repository, with slashes. */
  readonly name: string;
  readonly lines: number;
  readonly text: string;
  /** Paths of the imported files. */
  readonly imports: ReadonlySet<string>;
  /** Number of lines in the file's import statements. */
  readonly importLines: number;
  /** All names that the file exports, also those that it re-exports. */
  readonly exports: readonly string[];
  /** The exported names that the file declares itself. */
  readonly declared: ReadonlySet<string>;
}

export interface House {
  readonly sources: readonly SourceFile[];
  readonly importers: ReadonlyMap<string, number>;
  readonly documents: ReadonlyMap<string, string>;
}

/** The places of the faults, by rule. */
export type Faults = Readonly<Record<string, readonly string[]>>;

/** Limits of files and lines by room. docs/adr/0038-budgets-of-rooms.md says how to raise one. */
const BUDGETS = {
  core: { files: 451, lines: 50_300 },
  lib: { files: 102, lines: 8_950 },
  api: { files: 119, lines: 14_100 },
  activities: { files: 1, lines: 175 },
  workers: { files: 21, lines: 1_300 },
  workflows: { files: 4, lines: 350 },
  runtime: { files: 31, lines: 3_000 },
  'ui/src': { files: 358, lines: 42_850 },
};
const ROOMS = Object.keys(BUDGETS);
const FEWEST_LINES = 40;
const MOST_LINES = 300;
const MOST_EXPORTS = 40;
/** A small file is no fault if this many other files import it, because it saves each of these files a copy. */
const SHARED_BY = 3;

/** Words that signal a sentence without a clear subject, verb and object. */
const BARRED =
  /(?<![`'"])\b(?:whoever|whatever|nobody|somebody|anew)\b(?![`'"])|\b(?:of before|for want of|comes to|tells of)\b/giu;

/**
 * Matches the imports of a test with a service. A test without a service may import pure parts of a subject that its
 * `index.ts` does not export.
 */
const WITH_SERVICE = /from '#test\/support\/(?:service|fixtures|people)\.ts'/;
const BEHIND_DOOR = /from '#(core\/(?!(?:[a-z-]+\/)?[a-z-]+\/index[.]ts|(?:core|events|services)[.]ts)[^']+)'/g;

export function readHouse(root: string): House {
  const read = (name: string) => readFileSync(path.join(root, name), 'utf8');
  const find = (patterns: readonly string[]) =>
    globSync([...patterns], {
      cwd: root,
      exclude: ['**/node_modules/**', '**/dist/**'],
    }).toSorted();
  const names = find(ROOMS.map((room) => `${room}/**/*.{ts,tsx}`));
  const sources = names.map((name) => sourceFile(name, read(name)));
  const importers = new Map<string, number>();
  for (const { imports } of sources) {
    for (const name of imports) importers.set(name, (importers.get(name) ?? 0) + 1);
  }
  const others = find(['{bench,cli,dev,migrations,sdk,test}/**/*.ts', '{docs,ui}/**/*.md', '*.md']);
  return { sources, importers, documents: new Map(others.map((name) => [name, read(name)])) };
}

function sourceFile(name: string, text: string): SourceFile {
  const statements = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^']+)';$/gmu)];
  const exported = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gmu)].flatMap(([, list]) =>
    (list ?? '')
      .split(',')
      .map((each) =>
        each
          .replace(/^\s*type\s/u, '')
          .replace(/^.* as /su, '')
          .trim(),
      )
      .filter((each) => each !== ''),
  );
  const declared = [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gmu)].map(
    ([, each]) => each ?? '',
  );
  return {
    name,
    text,
    lines: text.split('\n').length - 1,
    imports: new Set(statements.flatMap(([, from]) => resolved(name, from ?? '') ?? [])),
    importLines: statements
      .filter(([all]) => all.startsWith('import'))
      .reduce((sum, [all]) => sum + all.split('\n').length, 0),
    exports: [...exported, ...declared],
    declared: new Set(declared),
  };
}

function resolved(importer: string, specifier: string): string | undefined {
  if (specifier.startsWith('#ui/')) return specifier.replace('#ui/', 'ui/src/');
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(importer), specifier);
  return undefined;
}

function isTest(name: string) {
  return name.startsWith('test/') && !name.startsWith('test/dev/house/');
}

function isDoor({ name }: SourceFile): boolean {
  return path.posix.basename(name) === 'index.ts';
}

function isIn(room: string) {
  return ({ name }: SourceFile) => name.startsWith(`${room}/`);
}

export function faultsOf({ sources, importers, documents }: House): Faults {
  const cut = sources.filter((file) => !isIn('ui/src')(file));
  const owners = Map.groupBy(
    sources.filter(isIn('core')).flatMap(({ name, declared }) => [...declared].map((each) => ({ name, each }))),
    ({ each }) => each,
  );
  const folders = new Set(sources.map(({ name }) => name.split('/').slice(0, 2).join('/')));
  const texts = [...sources.map(({ name, text }) => [name, text] as const), ...documents];
  return {
    [`files below ${FEWEST_LINES} lines`]: cut
      .filter((file) => file.lines < FEWEST_LINES && !isDoor(file))
      // Let a file that no file imports be small, because it is an entry.
      .filter(({ name }) => SHARED_BY > (importers.get(name) ?? SHARED_BY))
      .map(({ name }) => name),
    [`files above ${MOST_LINES} lines`]: cut.filter(({ lines }) => lines > MOST_LINES).map(({ name }) => name),
    [`doors of more than ${MOST_EXPORTS} names`]: cut
      .filter((file) => isDoor(file) && file.exports.length > MOST_EXPORTS)
      .map(({ name }) => name),
    'rooms above their budget': Object.entries(BUDGETS)
      .filter(([room, most]) => {
        const files = sources.filter(isIn(room));
        return files.length > most.files || sum(files.map(({ lines }) => lines)) > most.lines;
      })
      .map(([room]) => room),
    'files of core outside the districts': sources.map(({ name }) => name).filter(isOutside),
    'tests with a service that reach behind a door of core': [...documents]
      .filter(([name, text]) => isTest(name) && WITH_SERVICE.test(text))
      .flatMap(([name, text]) => [...text.matchAll(BEHIND_DOOR)].map(([, path]) => `${name} > ${path}`)),
    'tests that import a bench': [...documents]
      .filter(([name, text]) => isTest(name) && /from '[./]+bench\/harness\//.test(text))
      .map(([name]) => name),
    'tests in no folder of the code': [...documents.keys()].filter((name) => isAstray(name, folders)),
    'imports of core that point up': sources
      .filter(isIn('core'))
      .flatMap(({ name, imports }) =>
        [...imports]
          .filter((each) => each.startsWith('core/') && pointsUp(name, each))
          .map((each) => `${name} > ${each}`),
      ),
    'exports of core with the name of another': [...owners]
      .filter(([, places]) => places.length > 1)
      .map(([name]) => name),
    'tables with several writers': sharedTables(cut),
    'files with barred words': texts
      .filter(([name, text]) => !/^(?:dev\/scripts|test\/dev)\/house\//.test(name) && text.search(BARRED) !== -1)
      .map(([name]) => name),
  };
}

/** Returns a table of the rooms: files, lines, share of imports, small files, and exports of `index.ts`. */
export function figuresOf({ sources, importers }: House): string {
  const rows = [...ROOMS, ...SUBJECTS].map((room) => {
    const files = sources.filter(({ name }) => name === room || name.startsWith(`${room}/`));
    const lines = sum(files.map((file) => file.lines));
    const share = ((100 * sum(files.map((file) => file.importLines))) / lines).toFixed(1);
    const small = files.filter((file) => file.lines < FEWEST_LINES).length;
    const single = files.filter(({ name }) => importers.get(name) === 1).length;
    const door = files.find(({ name }) => name === `${room}/index.ts`)?.exports.length ?? '';
    return [room, files.length, lines, `${share} %`, small, single, door];
  });
  const head = ['room', 'files', 'lines', 'imports', `< ${FEWEST_LINES}`, 'one importer', 'door'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
