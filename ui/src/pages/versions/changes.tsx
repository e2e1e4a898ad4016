import type { ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { diffLines } from '#ui/format/diff-lines.ts';
import { MATERIAL_FIELDS } from '#ui/format/routine-fields.ts';
import { cx } from '#ui/parts/cx.ts';
import { Skeleton } from '#ui/parts/skeleton.tsx';

type Version = Shape<'RoutineVersion'>;
type Field = Version['changed'][number];

export interface ChangesProps {
  readonly after: Version;
  /** Undefined for the first on record. */
  readonly before: Version | undefined;
  readonly isPending: boolean;
}

/** The fields that differ from the version before, each with what was and what is. */
export function Changes({ after, before, isPending }: ChangesProps) {
  if (isPending) return <Skeleton className="h-40" />;
  const fields: readonly Field[] = before === undefined ? FIELDS : after.changed;
  return (
    <div className="flex flex-col gap-5">
      {fields
        .filter((field) => before !== undefined || textOf(after, field) !== '')
        .map((field) => (
          <Change key={field} title={MATERIAL_FIELDS[field]}>
            {before === undefined ? (
              <Lines
                lines={textOf(after, field)
                  .split('\n')
                  .map((text) => ({ kind: 'same', text }))}
              />
            ) : (
              <Lines lines={diffLines(textOf(before, field), textOf(after, field))} />
            )}
          </Change>
        ))}
    </div>
  );
}

function Change({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium text-ink first-letter:uppercase">{title}</h3>
      {children}
    </div>
  );
}

const MARKS = { same: ' ', added: '+', removed: '−' } as const;
const NAMES = { same: '', added: 'Added: ', removed: 'Removed: ' } as const;

function Lines({ lines }: { lines: readonly { kind: keyof typeof MARKS; text: string }[] }) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface py-1.5 font-mono text-sm">
      {lines.map(({ kind, text }, index) => (
        <div
          key={index}
          className={cx(
            'flex gap-2 px-3',
            kind === 'added' && 'bg-good-soft text-good-ink',
            kind === 'removed' && 'bg-bad-soft text-bad-ink',
            kind === 'same' && 'text-muted',
          )}
        >
          <span aria-hidden className="w-2 shrink-0 select-none">
            {MARKS[kind]}
          </span>
          <span className="min-w-0 wrap-anywhere whitespace-pre-wrap">
            <span className="sr-only">{NAMES[kind]}</span>
            {text === '' ? ' ' : text}
          </span>
        </div>
      ))}
    </div>
  );
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const FIELDS = Object.keys(MATERIAL_FIELDS) as Field[];

/** A field as lines, so that what changed in it can be told. */
function textOf(version: Version, field: Field): string {
  const value: unknown = version[field];
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) {
    return value
      .map((each: unknown) => (typeof each === 'string' ? each : nameOf(each)))
      .join('\n');
  }
  return Object.entries(value)
    .filter(([, each]) => each !== null)
    .map(([name, each]) => `${name}: ${typeof each === 'string' ? each : JSON.stringify(each)}`)
    .join('\n');
}

function nameOf(value: unknown): string {
  return typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string'
    ? value.name
    : JSON.stringify(value);
}
