import { Eraser, Minus } from 'lucide-react';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import type { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { drawn, unseenIn, withoutUnseen } from '#ui/format/drawn.ts';
import { isNumber, parseExact } from '#ui/format/exact-number.ts';
import { memberOf } from '#ui/format/json-pointer.ts';
import { SchemaHints } from '#ui/format/schema-hints.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Label, namesOf } from './arguments.tsx';

interface EditArgumentsProps {
  readonly given: Readonly<Record<string, unknown>>;
  readonly schema: unknown;
  readonly error: ApiError | undefined;
  readonly isBusy: boolean;
  readonly onSubmit: (edited: Record<string, unknown>) => void;
  readonly onCancel: () => void;
}

/** Kinds of arguments. Lists and objects are written as JSON. */
type Kind = 'text' | 'number' | 'flag' | 'json';

interface Written {
  readonly name: string;
  readonly kind: Kind;
  /** Undefined for an argument that is left out. */
  readonly text: string | undefined;
}

/** Edits the arguments of a call, a field each; the server checks them like the arguments that a model sends. */
export default function EditArguments({ given, schema, error, isBusy, onSubmit, onCancel }: EditArgumentsProps) {
  const hints = new SchemaHints(schema, schema);
  const [fields, setFields] = useState<readonly Written[]>(() =>
    [...new Set([...namesOf(given, schema), ...hints.members])].map((name) =>
      writtenOf(name, memberOf(given, name), hints),
    ),
  );
  const [faults, setFaults] = useState<ReadonlySet<string>>(new Set());
  const write = (name: string, text: string | undefined) =>
    setFields((before) => before.map((field) => (field.name === name ? { ...field, text } : field)));
  const submit = () => {
    const read = fields.map((field) => ({ ...field, value: valueOf(field) }));
    const wrong = read.filter(({ text, value }) => text !== undefined && value === undefined);
    setFaults(new Set(wrong.map(({ name }) => name)));
    if (wrong.length > 0) return;
    onSubmit(Object.fromEntries(read.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))));
  };
  return (
    <form
      className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {fields.map((field, index) => (
        <ArgumentField
          key={field.name}
          field={field}
          schema={schema}
          isFirst={index === 0}
          error={faults.has(field.name) ? 'This is not JSON.' : undefined}
          onWrite={(text) => write(field.name, text)}
        />
      ))}
      <FormError message={errorInWords(error)} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit" busy={isBusy}>
          Approve with these arguments
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

interface ArgumentFieldProps {
  readonly field: Written;
  readonly schema: unknown;
  readonly isFirst: boolean;
  readonly error: string | undefined;
  readonly onWrite: (text: string | undefined) => void;
}

function ArgumentField({ field: { name, kind, text }, schema, isFirst, error, onWrite }: ArgumentFieldProps) {
  const hints = new SchemaHints(schema, schema).member(name);
  const choices = kind === 'flag' ? ['true', 'false'] : kind === 'text' ? hints.choices : [];
  const unseen = unseenIn(text ?? '');
  const control = {
    value: text ?? '',
    placeholder: text === undefined ? 'Left out' : undefined,
    // oxlint-disable-next-line jsx-a11y/no-autofocus -- the person has just asked to edit
    autoFocus: isFirst,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => onWrite(target.value),
    onKeyDown: (event: KeyboardEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
    },
  };
  return (
    <Field
      label={<Label name={name} schema={schema} />}
      description={hints.description === undefined ? undefined : drawn(hints.description)}
      error={error}
      aside={
        text === undefined ? undefined : (
          <IconButton size="sm" icon={Minus} label={`Leave ${drawn(name)} out`} onClick={() => onWrite(undefined)} />
        )
      }
    >
      {choices.length > 0 ? (
        <Select
          placeholder="Left out"
          options={choices.map((value) => ({ value, label: drawn(value) }))}
          value={text ?? null}
          onChange={onWrite}
        />
      ) : kind === 'number' ? (
        <Input {...control} inputMode="decimal" className="max-w-48 tabular" autoComplete="off" />
      ) : kind === 'json' ? (
        <Textarea {...control} mono rows={rowsOf(text, 6)} spellCheck={false} />
      ) : (
        <Textarea {...control} dir="auto" rows={rowsOf(text, 1)} />
      )}
      {unseen.length > 0 && (
        <Unseen>
          <span>The arguments contain invisible characters: {unseen.join(', ')}.</span>
          <Button size="sm" icon={Eraser} onClick={() => onWrite(withoutUnseen(text ?? ''))}>
            Take them out
          </Button>
        </Unseen>
      )}
    </Field>
  );
}

function Unseen({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap items-center justify-between gap-2 text-sm text-warn-ink">{children}</div>;
}

const CHARACTERS_A_ROW = 70;
const MOST_ROWS = 16;

function rowsOf(text = '', least: number): number {
  const lines = text.split('\n').reduce((sum, line) => sum + Math.ceil((line.length + 1) / CHARACTERS_A_ROW), 0);
  return Math.min(Math.max(lines, least), MOST_ROWS);
}

function writtenOf(name: string, value: unknown, hints: SchemaHints): Written {
  const { isNumber: wantsNumber, isBoolean, isText } = hints.member(name);
  if (value === undefined) {
    return { name, kind: wantsNumber ? 'number' : isBoolean ? 'flag' : isText ? 'text' : 'json', text: undefined };
  }
  if (typeof value === 'string') return { name, kind: 'text', text: value };
  if (isNumber(value)) return { name, kind: 'number', text: String(value) };
  if (typeof value === 'boolean') return { name, kind: 'flag', text: String(value) };
  return { name, kind: 'json', text: JSON.stringify(value, null, 2) };
}

/** Reads a field; undefined for one that is left out, and for JSON that cannot be read. */
function valueOf({ kind, text }: Written): unknown {
  if (text === undefined || kind === 'text') return text;
  try {
    return parseExact(text);
  } catch {
    // Send a text that is not a number: the server names its fault.
    return kind === 'number' ? text : undefined;
  }
}
