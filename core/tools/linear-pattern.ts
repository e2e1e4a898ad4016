import type { CodeOptions } from 'ajv';
import { compilePattern } from '#lib/linear-pattern/index.ts';

type RegExpEngine = NonNullable<CodeOptions['regExp']>;

/**
 * Ajv's engine for `pattern` and `patternProperties`. Ajv wants the name under which generated code would refer to it.
 */
export const linearPattern: RegExpEngine = Object.assign(
  (pattern: string, flags: string) => compilePattern(pattern, flags),
  { code: 'linearPattern' },
);
