import { RE2JS } from 're2js';

/**
 * Compiles a regular expression for RE2, which takes time in proportion to the text, where JavaScript's own can take
 * for ever.
 * @throws {Error} when the pattern is no regular expression, or one that cannot be matched in linear time
 */
export function compilePattern(pattern: string, flags = 'u'): RE2JS {
  // JavaScript's syntax is the law: RE2 alone takes some of what is an error there for something else.
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

/** RE2JS reads it as letters. With the `u` flag, JavaScript has no other use for it. */
const NAMED_BACKREFERENCE = /(?<!\\)(?:\\\\)*\\k</;

export interface PatternJob {
  readonly pattern: string;
  readonly text: string;
}
