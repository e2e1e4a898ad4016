import { diffArrays } from 'diff';
import type { Block } from './blocks.ts';
import { createWordDiff, type LinePair, type Stretch } from './word-diff.ts';

/** Two lines of formatted texts beside each other. */
export interface BlockPair extends LinePair {
  readonly look: Exclude<Block['look'], 'row'>;
  readonly depth: number;
}

/** Two rows of a table, as two values of each column; null if a text has no such row or column. */
export interface RowPair {
  readonly sign: '+' | '−' | '~' | '=';
  readonly cells: ReadonlyMap<string, LinePair>;
  readonly same: boolean;
}

/** A table of both texts, or of one of them. */
export interface TablePair {
  readonly look: 'table';
  readonly columns: readonly string[];
  readonly rows: readonly RowPair[];
  readonly same: boolean;
}

/** Limits the work for two texts with little in common. */
const MAX_EDITS = 1_000;

/** Compares two formatted texts line by line, and changed lines word by word. Rows of a table become one pair. */
export function blockDiff(before: readonly Block[], after: readonly Block[]): readonly (BlockPair | TablePair)[] {
  const changes = diffArrays([...before], [...after], {
    maxEditLength: MAX_EDITS,
    comparator: (one, other) => keyOf(one) === keyOf(other),
  }) ?? [
    { value: [...before], removed: true, added: false },
    { value: [...after], removed: false, added: true },
  ];
  const wordDiff = createWordDiff();
  const pairs: Paired[] = [];
  let old: readonly Block[] = [];
  for (const { value, added, removed } of changes) {
    if (removed) {
      old = value;
      continue;
    }
    pairs.push(...(added ? pairUp(old, value) : [...alone(old), ...value.map((block) => [block, block] as const)]));
    old = [];
  }
  pairs.push(...alone(old));
  return withTables(pairs, wordDiff);
}

function keyOf({ look, depth, cells, columns }: Block): string {
  return JSON.stringify([look, depth, cells, columns]);
}

type Paired = readonly [before: Block | undefined, after: Block | undefined];

function alone(old: readonly Block[]): Paired[] {
  return old.map((block) => [block, undefined]);
}

/**
 * Pairs each new line with the next old line of the same look, and each new row with the next old row whose first cell
 * is the same.
 */
function pairUp(old: readonly Block[], fresh: readonly Block[]): Paired[] {
  const left = [...old];
  const pairs = fresh.flatMap((block): Paired[] => {
    const at = left.findIndex(
      ({ look, cells }) => look === block.look && (look !== 'row' || cells[0] === block.cells[0]),
    );
    if (at === -1) return [[undefined, block]];
    const passed = left.splice(0, at);
    return [...alone(passed), [left.shift(), block]];
  });
  return [...pairs, ...alone(left)];
}

type WordDiff = ReturnType<typeof createWordDiff>;

function withTables(pairs: readonly Paired[], wordDiff: WordDiff): readonly (BlockPair | TablePair)[] {
  const found: (BlockPair | TablePair)[] = [];
  for (const [before, after] of pairs) {
    const block = after ?? before;
    if (block === undefined) continue;
    const { look, depth } = block;
    if (look !== 'row') {
      found.push({ look, depth, ...linePair(before?.cells[0], after?.cells[0], wordDiff) });
      continue;
    }
    const row = rowPair(before, after, wordDiff);
    const last = found.at(-1);
    if (last?.look === 'table' && isSameTable(last, block)) {
      const columns = [...new Set([...last.columns, ...row.cells.keys()])];
      found[found.length - 1] = { ...last, columns, rows: [...last.rows, row], same: last.same && row.same };
    } else found.push({ look: 'table', columns: [...row.cells.keys()], rows: [row], same: row.same });
  }
  return found;
}

function isSameTable({ columns }: TablePair, row: Block): boolean {
  return row.columns.some((name) => columns.includes(name));
}

function linePair(before: string | undefined, after: string | undefined, wordDiff: WordDiff): LinePair {
  if (before === undefined || before !== after) return wordDiff(before, after);
  const line: readonly Stretch[] = [{ text: before, differs: false }];
  return { before: line, after: line, same: true };
}

function rowPair(before: Block | undefined, after: Block | undefined, wordDiff: WordDiff): RowPair {
  const cellOf = (row: Block | undefined, name: string) => row?.cells[row.columns.indexOf(name)];
  const names = [...new Set([...(after?.columns ?? []), ...(before?.columns ?? [])])];
  const pairs = names.map((name) => [name, linePair(cellOf(before, name), cellOf(after, name), wordDiff)] as const);
  const same = before !== undefined && after !== undefined && pairs.every(([, pair]) => pair.same);
  const sign = before === undefined ? '+' : after === undefined ? '−' : same ? '=' : '~';
  return { sign, cells: new Map(pairs), same };
}
