import { useState, type ReactNode } from 'react';
import type { ApiError } from '#ui/api/error.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { TextDiff } from '#ui/parts/lazily.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { json } from '#ui/format/json-text.ts';
import { Fold } from '#ui/parts/fold.tsx';

type RunChanges = Shape<'RunChanges'>;
type Items = Pick<RunChanges, 'added' | 'removed' | 'changed' | 'by'>;

/** Names in a sentence the run that the data was compared with, and for how long the data has been the same. */
export function Comparison({ changes }: { readonly changes: RunChanges }) {
  const projectId = useProjectId();
  const { against, unchangedRuns } = changes;
  if (against === null) return 'The first result with data: all of it is new.';
  const last = (
    <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: against }}>
      the last delivered run
    </TextLink>
  );
  if (totalOf(changes) === 0) {
    return (
      <>
        Nothing differs from {last}
        {unchangedRuns > 1 && `, for ${count(unchangedRuns)} runs in a row`}.
      </>
    );
  }
  return (
    <>
      Compared with {last}
      {unchangedRuns > 0 && `, after ${plural(unchangedRuns, 'run')} without a change`}.
    </>
  );
}

export interface AllChanges {
  /** All changed items once the user asks for them, before that the items that the run keeps. */
  readonly changes: Items | null;
  readonly isAll: boolean;
  readonly isFetching: boolean;
  readonly error: ApiError | null;
  readonly ask: () => void;
}

/** Reads the changes that a run keeps, and on request all others. */
export function useAllChanges(runId: string, changes: RunChanges | null): AllChanges {
  const [isAsked, setAsked] = useState(false);
  // Name no other run: the API then returns the comparison that was made when the run ended.
  const diff = useRead('/v1/runs/{runId}/diff', { path: { runId } }, { enabled: isAsked });
  return {
    changes: diff.data ?? changes,
    isAll: diff.data !== undefined,
    get isFetching() {
      return diff.isFetching;
    },
    error: diff.error,
    ask: () => (isAsked ? diff.refetch() : setAsked(true)),
  };
}

/** Says that a run keeps the first changes only, and offers the others. */
export function TruncatedLine({ all, changes }: { all: AllChanges; changes: RunChanges }) {
  if (!changes.truncated || all.isAll) return null;
  return (
    <li className="flex flex-wrap items-center gap-3 border-b border-line px-3 py-2 text-sm text-muted last:border-b-0">
      <span className="grow">Only the first changes are marked here, of {count(totalOf(changes))}.</span>
      <Button size="sm" busy={all.isFetching} onClick={all.ask}>
        Mark all
      </Button>
      {all.error !== null && (
        <div className="w-full">
          <FormError message={errorInWords(all.error)} />
        </div>
      )}
    </li>
  );
}

/** Shows the differences of data that is compared as a whole. */
export function ChangeLines({ changes: { changed } }: { readonly changes: Items }) {
  return changed.map(({ before, after }, index) => (
    <Line key={index} label="Changed">
      <TextDiff label="what changed" before={json(before)} after={json(after)} />
    </Line>
  ));
}

function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <li className="border-b border-line last:border-b-0">
      <Fold summary={<span className="text-sm text-ink">{label}</span>}>{children}</Fold>
    </li>
  );
}

function totalOf({ counts: { added, removed, changed } }: RunChanges): number {
  return added + removed + changed;
}
