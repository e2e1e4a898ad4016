import { z } from 'zod';
import { invalid } from '#lib/errors.ts';
import { patternFault } from '#lib/linear-pattern.ts';
import type { JsonObject } from '#lib/json.ts';
import type { Frozen } from './field.ts';

const pattern = z.string().min(1, 'must not be empty').max(500).meta({
  description:
    'A regular expression of JavaScript with the flag `u`, searched anywhere in the result in linear time: without lookaheads, lookbehinds and backreferences. `(?i:…)` ignores case.',
  example: '^## Findings',
});

const atLeast = z.number().int().min(1).max(100);

const check = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('result_not_empty') }),
    z.strictObject({ type: z.literal('result_matches'), pattern }),
    z.strictObject({ type: z.literal('result_does_not_match'), pattern }),
    z.strictObject({ type: z.literal('distinct_sources'), atLeast }),
    z.strictObject({
      type: z.literal('tool_succeeded'),
      tool: z.string().min(1).max(100).meta({
        description: 'The `name` of one of the `callableTools`, or the id of its policy.',
        example: 'search',
      }),
      atLeast: atLeast.default(1),
    }),
    z.strictObject({ type: z.literal('no_refused_calls') }),
  ])
  .meta({ id: 'ResultCheck' });

/** The checks that code makes before a run counts as succeeded. */
export const checks = z
  .array(check)
  .max(10)
  .meta({
    description:
      'Conditions that code checks when a run would succeed: the result is not empty, matches a pattern or does not, names a number of distinct web addresses; a tool succeeded often enough; no call was refused. A run that states `nothing_to_report` needs no pattern and no addresses. A run that fails a check ends `failed`, `check_failed`, and is no proof for activation. The list of types may grow.',
    example: [{ type: 'distinct_sources', atLeast: 3 }],
  });

export type ResultCheck = Frozen<z.output<typeof check>>;
export type ResultCheckType = ResultCheck['type'];
export const RESULT_CHECK_TYPES = check.options.map(({ shape }) => shape.type.value);

/** @throws {AppError} `invalid_request` that names each check whose pattern cannot be used */
export function checkPatterns(checks: readonly ResultCheck[]): void {
  const issues = checks.flatMap((check, index) => {
    const message = 'pattern' in check ? patternFault(check.pattern) : undefined;
    return message === undefined ? [] : [{ path: `checks[${index}].pattern`, message }];
  });
  if (issues.length > 0) throw invalid(issues);
}

/** JSON Pointers to a list in the data of a result, and to the identity of the list's items. */
export interface ResultKey {
  /** Pointer from the data to the list; empty if the data is the list. */
  readonly list: string;
  /** Pointer from an item to the item's identity; empty if the item itself is the identity. */
  readonly key: string;
}

export interface ResultForm {
  readonly schema: JsonObject;
  readonly key: ResultKey | null;
}

/**
 * Renders the section of the prompt about the form of the result. The section is the same in every run of a version.
 */
export function resultSection({ schema, key }: ResultForm): string {
  return [
    '## Form of the result',
    'The result is read by a program. It is one JSON value and nothing else: no words before or after it and no Markdown fence. It satisfies this JSON Schema:',
    JSON.stringify(schema),
    ...(key === null
      ? []
      : [
          `Items of the list at ${named(key.list)} are told apart by ${named(key.key)}: no two have the same value there, and the same thing has the same value in every run.`,
        ]),
  ].join('\n\n');
}

function named(pointer: string): string {
  return pointer === '' ? 'the root (the value itself)' : `the JSON Pointer \`${pointer}\``;
}
