import type { JsonObject } from '#lib/json.ts';

/** JSON Pointers to a list in the data of a result and to what identifies its items. */
export interface ResultKey {
  /** Leads from the data to the list; empty where the data is the list. */
  readonly list: string;
  /** Leads from an item to what identifies it; empty where the item itself does. */
  readonly key: string;
}

/** Form of a routine's results. */
export interface ResultForm {
  /** A JSON Schema. */
  readonly schema: JsonObject;
  readonly key: ResultKey | null;
}

/** Renders the section of the prompt about the form of the result; the same in every run of a version. */
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
