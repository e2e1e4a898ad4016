import { FileText } from 'lucide-react';
import type { Shape } from '#ui/api/types.ts';
import { Notice } from './feedback.tsx';
import { Badge } from './state.tsx';

interface Managed {
  readonly managedBy: Shape<'ManagedBy'> | null;
  readonly managedFrom: string | null;
  readonly driftedAt: string | null;
  readonly driftedBy: Shape<'RoutineVersionAuthor'> | null;
}

/** Marks routines and skills that are kept in files, and changes made outside the files. */
export function ManagedMark({ of: { managedBy, managedFrom, driftedAt, driftedBy } }: { readonly of: Managed }) {
  if (managedBy === null) return null;
  const kept = managedFrom === null ? 'Kept in files' : `Kept in the files of ${managedFrom}`;
  const title =
    driftedAt === null
      ? `${kept}. The next apply overwrites changes made here.`
      : `${kept}. Changed ${driftedBy?.name == null ? 'here' : `by ${driftedBy.name}`} since the last apply; the next apply overwrites that change.`;
  return (
    <Badge title={title} tone={driftedAt === null ? 'idle' : 'warn'}>
      <FileText aria-hidden className="size-3" strokeWidth={1.75} />
      {driftedAt === null ? 'Files' : 'Differs from files'}
    </Badge>
  );
}

/** Warns before an edit of a routine or skill that is kept in files. */
export function ManagedNotice({
  of: { managedBy, externalKey },
}: {
  readonly of: Pick<Managed, 'managedBy'> & { readonly externalKey: string | null };
}) {
  if (managedBy === null) return null;
  return (
    <Notice tone="warn" className="mb-6">
      <span>
        Kept in files
        {externalKey !== null && (
          <>
            {' '}
            as <ExternalKey of={externalKey} />
          </>
        )}
        . The next plan shows your changes here as drift, and the next apply overwrites them: change the file instead.
      </span>
    </Notice>
  );
}

export function ExternalKey({ of }: { readonly of: string }) {
  return <code className="text-xs wrap-anywhere">{of}</code>;
}
