import type { ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { MATERIAL_FIELDS } from '#ui/parts/routine-fields.ts';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/text-diff.tsx';

type Version = Shape<'RoutineVersion'>;
type Field = Version['changed'][number];

export interface ChangesProps {
  readonly after: Version;
  /** Undefined for the first version. */
  readonly before: Version | undefined;
  readonly isPending: boolean;
}

/** Shows the fields that differ from the version before, each with its old and new value. */
export function Changes({ after, before, isPending }: ChangesProps) {
  if (isPending) return <Skeleton className="h-40" />;
  const fields: readonly Field[] = before === undefined ? FIELDS : after.changed;
  return (
    <div className="flex flex-col gap-5">
      {fields
        .filter((field) => before !== undefined || textOf(after, field) !== '')
        .map((field) => (
          <Change key={field} title={MATERIAL_FIELDS[field]}>
            <TextDiff
              label={MATERIAL_FIELDS[field]}
              before={textOf(before ?? after, field)}
              after={textOf(after, field)}
            />
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

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const FIELDS = Object.keys(MATERIAL_FIELDS) as Field[];

/** Formats a field as lines, so that its changes can be shown. */
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
    .map(([name, each]) => {
      const words = field === 'variables' ? name : (WORDS[name] ?? name);
      return `${words}: ${typeof each === 'string' ? each : JSON.stringify(each)}`;
    })
    .join('\n');
}

/** Names of limits, as the composer has them. */
const WORDS: Readonly<Record<string, string>> = {
  provider: 'Provider',
  connectionId: 'Account',
  modelId: 'Model',
  maxSteps: 'Steps of a run',
  timeoutSeconds: 'Time of a run, in seconds',
  maxTotalTokens: 'Tokens of a run',
  maxOutputTokens: 'Output of a step, in tokens',
  maxQueueSeconds: 'Longest wait, in seconds',
  abnormalFactor: 'Unusually large, times the usual',
};

function nameOf(value: unknown): string {
  return typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string'
    ? value.name
    : JSON.stringify(value);
}
