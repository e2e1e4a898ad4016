import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import { BoundedThread, JobLimitError, ThreadBusyError } from './bounded-thread.ts';

/** Thrown when a match took too long, or had to wait too long. */
export class PatternTooSlow extends Error {
  override readonly name = 'PatternTooSlow';
}

/** The most steps of a match for each character of the text. */
const MAX_SIZE = 5_000;

/** Size times characters of a match that takes a few milliseconds. Longer matches run in another thread. */
const QUICK_STEPS = 1_000_000;

const LIMIT_MS = 500;

const thread = new BoundedThread<PatternJob, boolean>({
  entry: new URL('linear-pattern-thread.ts', import.meta.url),
  maxHeapMb: 256,
});

const compiled = new LRUCache<string, RE2JS>({
  max: 500,
  memoMethod: (pattern) => compilePattern(pattern),
});

/** Says why a pattern cannot be used; undefined when it can. */
export function patternFault(pattern: string): string | undefined {
  if (sizeBound(pattern) > MAX_SIZE) return 'the pattern is too large: its counts multiply';
  try {
    compiled.memo(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
}

/**
 * Tells whether a text matches the pattern anywhere.
 * @param owner the tenant; long matches of one tenant wait for each other
 * @param pattern a pattern that passes `patternFault`
 * @throws {PatternTooSlow}
 */
export async function matchesPattern(owner: string, pattern: string, text: string): Promise<boolean> {
  if (sizeBound(pattern) * text.length <= QUICK_STEPS) {
    return compiled.memo(pattern).matcher(text).find();
  }
  try {
    return await thread.run(owner, (ask) => ask({ pattern, text }, LIMIT_MS));
  } catch (error) {
    const isOver = error instanceof JobLimitError || error instanceof ThreadBusyError;
    throw isOver ? new PatternTooSlow() : error;
  }
}

/**
 * Returns an upper bound of the size of a compiled pattern, from its text: 500 characters with nested repetitions can
 * take seconds to compile.
 * @param pattern a pattern that JavaScript accepts
 */
export function sizeBound(pattern: string): number {
  // Sizes of the open groups, from the outside in: the size so far, and the part that a count would repeat.
  const groups = [{ whole: 0, last: 0 }];
  for (const [token] of pattern.matchAll(TOKEN)) {
    const group = groups.at(-1) ?? { whole: 0, last: 0 };
    const times = COUNT.exec(token);
    if (token === '(') {
      groups.push({ whole: 0, last: 0 });
    } else if (token === ')') {
      groups.pop();
      add(groups.at(-1), group.whole + 2);
    } else if (times === null) {
      add(group, 1);
    } else {
      const more = group.last * Number(times[2] || times[1]);
      group.whole += more;
      group.last += more;
    }
  }
  return groups[0]?.whole ?? 0;
}

function add(group: { whole: number; last: number } | undefined, size: number): void {
  if (group === undefined) return;
  group.whole += size;
  group.last = size;
}

/** Matches a class, an escape, a count or a character. */
const TOKEN = /\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\.|\{\d+(?:,\d*)?\}|[^]/gu;
const COUNT = /^\{(\d+)(?:,(\d*))?\}$/;

/**
 * Compiles a regular expression for RE2, which takes time in proportion to the text. JavaScript's own engine can run
 * without end.
 * @throws {Error} when the pattern is not a regular expression, or cannot be matched in linear time
 */
export function compilePattern(pattern: string, flags = 'u'): RE2JS {
  // Let JavaScript check the syntax: RE2 alone gives some invalid patterns another meaning.
  void new RegExp(pattern, flags);
  try {
    if (NAMED_BACKREFERENCE.test(pattern)) throw new Error('backreference');
    return RE2JS.compile(RE2JS.translateRegExp(pattern));
  } catch {
    throw new Error(
      `the pattern ${JSON.stringify(pattern.slice(0, 80))} cannot be matched in linear time: lookaheads, lookbehinds, backreferences and counts above 1,000 are not supported`,
    );
  }
}

/** RE2JS reads this sequence as letters. With the `u` flag, JavaScript uses it only for backreferences. */
const NAMED_BACKREFERENCE = /(?<!\\)(?:\\\\)*\\k</;

export interface PatternJob {
  readonly pattern: string;
  readonly text: string;
}
