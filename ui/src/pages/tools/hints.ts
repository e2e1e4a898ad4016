import type { Shape } from '#ui/api/types.ts';
import { sortedJson } from '#ui/format/exact-number.ts';

type Policy = Shape<'ToolPolicy'>;

export type Effect = 'reads' | 'writes' | 'destroys';

interface Group {
  readonly effect: Effect;
  readonly title: string;
  readonly description: string;
}

/** Groups of tools, by the claims of their servers. */
export const GROUPS: readonly Group[] = [
  {
    effect: 'reads',
    title: 'Read-only',
    description: 'The server says that these tools change nothing. The claim is not verified.',
  },
  {
    effect: 'writes',
    title: 'Writes',
    description:
      'The server says that these tools add or change something and destroy nothing. The claim is not verified.',
  },
  {
    effect: 'destroys',
    title: 'Destructive',
    description:
      'The server says that these tools may delete or overwrite something, or says nothing, which counts the same.',
  },
];

/** Returns the group by the server's hints; a tool without hints counts as destructive, as in MCP. */
export function effectOf({ annotations }: Pick<Policy, 'annotations'>): Effect {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  if (readOnlyHint === true && destructiveHint !== true) return 'reads';
  return destructiveHint === false ? 'writes' : 'destroys';
}

/** Returns true when the server has not given the hint on which the group is based. */
export function saysNothing({ annotations }: Pick<Policy, 'annotations'>): boolean {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  return readOnlyHint === undefined && destructiveHint === undefined;
}

const CLAIMS: Readonly<Record<Effect, string>> = {
  reads: 'The tool changes nothing. The claim is not verified.',
  writes: 'The tool adds or changes something, and destroys nothing. The claim is not verified.',
  destroys: 'The tool may delete or overwrite something.',
};

/** Writes a claim of the server about a tool in words. */
export function claimText(policy: Pick<Policy, 'annotations'>): string {
  return saysNothing(policy) ? 'None. Treat the tool as one that may delete or overwrite.' : CLAIMS[effectOf(policy)];
}

/** Returns true when the server's definition differs from the confirmed one. */
export function isChanged({ confirmedHash, definitionHash }: Policy): boolean {
  return confirmedHash !== null && confirmedHash !== definitionHash;
}

type Definition = NonNullable<Policy['confirmedDefinition']>;

/** Formats a definition as text, to be read and compared. Names are sorted, because servers order them freely. */
export function definitionText(definition: Definition): string {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  const parts = [
    ['Title', title],
    ['Description', description],
    ['Hints', annotations],
    ['Input', inputSchema],
    ['Output', outputSchema],
  ] as const;
  return parts
    .flatMap(([name, value]) =>
      value === null ? [] : [`${name}:\n${typeof value === 'string' ? value : sortedJson(value, 2)}`],
    )
    .join('\n\n');
}
