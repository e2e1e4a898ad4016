/**
 * Finds the writers of the product's tables. One subject owns a table; the others call its verbs. Known exceptions are
 * `runs` and `steps`: a step and the end of a run write both in one statement, and admission, a lower subject, leases
 * waiting runs.
 */
import { SUBJECTS } from './districts.ts';

const WRITE =
  /\b(?:insert into (\w+)\s*\(|update (\w+)\s+(?:(?!set\b)\w+\s+)?set\s|delete from (\w+)\s|table: '(\w+)',\s*where:)/g;
const COMMENT = /\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Returns the subjects that write each table, read from the statements in their sources. */
export function writersOf(sources: readonly { readonly name: string; readonly text: string }[]) {
  const writers = new Map<string, Set<string>>();
  for (const { name, text } of sources) {
    const subject = SUBJECTS.find((each) => name.startsWith(`${each}/`)) ?? name.split('/')[0] ?? name;
    for (const [, ...tables] of text.replace(COMMENT, '').matchAll(WRITE)) {
      const table = tables.find((each) => each !== undefined) ?? '';
      writers.set(table, (writers.get(table) ?? new Set()).add(subject));
    }
  }
  return writers;
}

/** Lists the tables with several writers: `runs: core/execution/admission, core/execution/runs`. */
export function sharedTables(sources: Parameters<typeof writersOf>[0]): string[] {
  return [...writersOf(sources)]
    .filter(([, subjects]) => subjects.size > 1)
    .map(([table, subjects]) => `${table}: ${[...subjects].toSorted().join(', ')}`)
    .toSorted();
}
