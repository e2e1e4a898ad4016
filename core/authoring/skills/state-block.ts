import { cut } from '#lib/text.ts';

/** Values that a skill leaves for the next run, in a fenced block ```` ```state <slug> ```` of `key: value` lines. */
export interface StateBlock {
  readonly slug: string;
  readonly entries: ReadonlyMap<string, string>;
}

export const MAX_STATE = 2_000;

/** Explains once, after the skills of a run, how state blocks are written. */
export const STATE_SECTION = [
  '## State blocks',
  '',
  'End the result with the state block that each skill shows. Write every key of it, one line each, in the order shown. Write "none" where nothing is known.',
  'Copy what this run did not look at from the previous block, with its date.',
  `Keep a block to about 600 characters: a block over ${MAX_STATE.toLocaleString('en-US')} is not read. If it exceeds 1,500 characters, delete closed items first. Then delete the oldest entries of the longest line, and end that line with "+n more".`,
].join('\n');

export function showsState(instructions: string): boolean {
  return stateBlocks(instructions).length > 0;
}

/** Bound the body, so that many openings do not slow the search. */
const BLOCK = /^```state ([a-z0-9]+(?:-[a-z0-9]+)*)[ \t]*\n([\s\S]{0,2000}?)^```[ \t]*$/gm;
const ENTRY = /^([a-z][a-z-]{0,30}): ?(.*)$/;

/** Finds the last state block of each slug in a result. A block with a line of another form does not count. */
export function stateBlocks(text: string): StateBlock[] {
  const found = new Map<string, StateBlock>();
  for (const [, slug = '', body = ''] of text.replaceAll('\r\n', '\n').matchAll(BLOCK)) {
    const entries = entriesOf(body);
    if (entries === undefined) found.delete(slug);
    else found.set(slug, { slug, entries });
  }
  return [...found.values()];
}

/** Returns the keys that a skill's own text asks for, in order; empty when the text shows no block with the slug. */
export function stateKeys(instructions: string, slug: string): string[] {
  const block = stateBlocks(instructions).find((each) => each.slug === slug);
  return block === undefined ? [] : [...block.entries.keys()];
}

/** Cuts a result for the next run, and keeps the state blocks at its end. */
export function cutKeepingState(result: string, limit: number): string {
  if (result.length <= limit) return result;
  const blocks = [...result.matchAll(BLOCK)].map(([block]) => block);
  const tail = blocks.length === 0 ? '' : `\n\n${blocks.join('\n\n')}`;
  const note = '\n\n[cut here]';
  const head = limit - tail.length - note.length;
  // If the blocks take more than half of the room, leave them out: they would displace the result itself.
  if (head < limit / 2) return result.slice(0, limit);
  return `${cut(result, head)}${note}${tail}`;
}

function entriesOf(body: string): ReadonlyMap<string, string> | undefined {
  const entries = new Map<string, string>();
  for (const line of body.split('\n').filter((each) => each.trim() !== '')) {
    const [, key, value] = ENTRY.exec(line) ?? [];
    if (key === undefined || value === undefined || entries.has(key)) return undefined;
    entries.set(key, value.trim());
  }
  return entries.size === 0 ? undefined : entries;
}
