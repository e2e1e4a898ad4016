import { useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { placeInWords, referencesIn, type Reference } from '#ui/format/action-words.ts';
import { drawn, partsAtUnseen } from '#ui/format/drawn.ts';
import { isNumber } from '#ui/format/exact-number.ts';
import { count } from '#ui/format/numbers.ts';
import { SchemaHints } from '#ui/format/schema-hints.ts';
import { Button } from '#ui/parts/button.tsx';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';

export interface ArgumentsProps {
  readonly action: Pick<Shape<'Action'>, 'arguments'> & Partial<Pick<Shape<'ActionDetail'>, 'inputSchema'>>;
}

/** Shows arguments as a read-only form: each under its name, in the order of the tool's schema, unchanged. */
export function Arguments({ action: { arguments: given, inputSchema = null } }: ArgumentsProps) {
  if (given === null)
    return <p className="text-base text-muted">The arguments are erased with the texts of the run.</p>;
  const names = namesOf(given, inputSchema);
  if (names.length === 0) return <p className="text-base text-muted">None.</p>;
  return (
    <dl className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
      {names.map((name) => (
        <div key={name} className="grid gap-x-4 gap-y-1 px-4 py-2.5 sm:grid-cols-[8rem_minmax(0,1fr)]">
          <dt className="text-sm text-faint wrap-anywhere">
            <Label name={name} schema={inputSchema} />
          </dt>
          <dd className="min-w-0 text-base text-ink">
            <Value name={name} value={given[name]} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Returns the names of arguments: those of the schema in its order, then the others. */
export function namesOf(given: object, schema: unknown): readonly string[] {
  const own = Object.keys(given);
  const known = new SchemaHints(schema, schema).members.filter((name) => own.includes(name));
  return [...new Set([...known, ...own])];
}

/** Names an argument by its own name, and by the title that the server gives it. */
export function Label({ name, schema }: { readonly name: string; readonly schema: unknown }) {
  const { title } = new SchemaHints(schema, schema).member(name);
  if (title === undefined || title.toLowerCase() === name.toLowerCase()) return drawn(name);
  return (
    <>
      {drawn(title)} <code className="block font-mono text-xs">{drawn(name)}</code>
    </>
  );
}

function Value({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (typeof value === 'string') return <LongText text={value} />;
  if (isNumber(value) || typeof value === 'boolean' || value === null) {
    return <span className="font-mono text-sm tabular">{String(value)}</span>;
  }
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string')) {
    return (
      <ul className="list-disc pl-4">
        {value.map((each, index) => (
          <li key={index}>
            <LongText text={each} />
          </li>
        ))}
      </ul>
    );
  }
  return <CodeBlock label={drawn(name)} code={JSON.stringify(value, null, 2)} wrap maxHeight="sm" />;
}

const FOLDED_LENGTH = 700;
const FOLDED_LINES = 12;
const FOLDED_END = 120;

/** Shows a text as written, without formatting. A folded text still shows its end, where an order may hide. */
function LongText({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const start = text.split('\n', FOLDED_LINES).join('\n').slice(0, FOLDED_LENGTH);
  const isLong = start.length < text.length;
  if (text === '') return <span className="text-faint">An empty text</span>;
  return (
    <>
      <p dir="auto" className="whitespace-pre-wrap wrap-anywhere">
        {referencesIn(isOpen ? text : start).map((part, index) =>
          typeof part === 'string' ? <Marked key={index} text={part} /> : <ResultOf key={index} of={part} />,
        )}
        {isLong && !isOpen && (
          <>
            <span className="text-faint"> … </span>
            <Marked text={text.slice(start.length).slice(-FOLDED_END).trimStart()} />
          </>
        )}
      </p>
      {isLong && (
        <Button size="sm" kind="quiet" className="-ml-2.5" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : `Show all ${count(text.length)} characters`}
        </Button>
      )}
    </>
  );
}

/** Shows a text with the names of its invisible characters marked, so that they are not taken for a part of it. */
function Marked({ text }: { readonly text: string }) {
  return partsAtUnseen(text).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <mark
        key={index}
        title="A character that no one sees"
        className="mx-0.5 rounded-sm bg-warn-soft px-1 text-sm text-warn-ink"
      >
        {part}
      </mark>
    ),
  );
}

/** Shows a reference to the result of another held call. */
function ResultOf({ of: { actionId, pointer } }: { readonly of: Reference }) {
  const projectId = useProjectId();
  const { data } = useRead('/v1/actions/{actionId}', { path: { actionId } }, { staleMs: 60_000 });
  const part = pointer === '' ? 'the result' : placeInWords(pointer);
  return (
    <span className="mx-0.5 rounded-sm bg-busy-soft px-1 text-sm text-busy-ink">
      {part} of{' '}
      <TextLink to="/p/$projectId/inbox" params={{ projectId }} search={{ action: actionId }} replace>
        {drawn(data?.toolName ?? 'another call')}
      </TextLink>
    </span>
  );
}
