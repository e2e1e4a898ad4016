import type { ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { MATERIAL_FIELDS, textOf } from '#ui/parts/routine-fields.ts';
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
        .filter((field) => before !== undefined || textOf(field, after[field]) !== '')
        .map((field) => (
          <Change key={field} title={MATERIAL_FIELDS[field]}>
            <TextDiff
              label={MATERIAL_FIELDS[field]}
              before={textOf(field, (before ?? after)[field])}
              after={textOf(field, after[field])}
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
