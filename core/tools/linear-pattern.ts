import type { CodeOptions } from 'ajv';
import { RE2JS } from 're2js';

type RegExpEngine = NonNullable<CodeOptions['regExp']>;

/**
 * Ajv's engine for `pattern` and `patternProperties`: RE2, which takes time in proportion to the text, where
 * JavaScript's own can take for ever. Ajv wants the name under which generated code would refer to it.
 */
export const linearPattern: RegExpEngine = Object.assign(compilePattern, { code: 'linearPattern' });

/** @throws {Error} when the pattern is no regular expression, or one that cannot be matched in linear time */
function compilePattern(pattern: string, flags: string): RE2JS {
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
