import { useState, type ReactNode } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { count, plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { TextDiff } from '#ui/parts/text-diff.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { json } from './json.ts';
import { Fold } from '#ui/parts/fold.tsx';

type RunChanges = Shape<'RunChanges'>;
/** Values shown side by side; each of them is a stop of the Tab key. */
const SIDE_BY_SIDE = 50;

type Items = Pick<RunChanges, 'counts' | 'added' | 'removed' | 'changed' | 'by'>;

/** Says in a sentence what the data was compared with, and for how long it has been the same. */
export function Comparison({ changes }: { readonly changes: RunChanges }) {
  const projectId = useProjectId();
  const { against, unchangedRuns } = changes;
  if (against === null) return 'The first of its kind: all of it is new.';
  const last = (
    <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: against }}>
      the run that was delivered last
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
      {unchangedRuns > 0 && `, and after ${plural(unchangedRuns, 'run')} without a change`}.
    </>
  );
}

/** Shows what was added, removed and changed; where the run keeps only the first items, the others on request. */
export function ChangeLines({ runId, changes }: { runId: string; changes: RunChanges }) {
  const [isAll, setAll] = useState(false);
  // Without another run named it is the comparison that was made when the run ended.
  const diff = useRead('/v1/runs/{runId}/diff', { path: { runId } }, { enabled: isAll });
  return (
    <>
      {linesOf(diff.data ?? changes)}
      {changes.truncated && diff.data === undefined && (
        <li className="flex flex-wrap items-center gap-3 border-b border-line px-3 py-2 text-sm text-muted">
          <span className="grow">
            Only the first items are kept here, of {count(totalOf(changes))}.
          </span>
          <Button
            size="sm"
            busy={diff.isFetching}
            onClick={() => (isAll ? diff.refetch() : setAll(true))}
          >
            Show all
          </Button>
          {diff.error !== null && (
            <div className="w-full">
              <FormError message={errorInWords(diff.error)} />
            </div>
          )}
        </li>
      )}
    </>
  );
}

function linesOf({ counts, added, removed, changed, by }: Items) {
  return (
    <>
      {added.length > 0 && (
        <Line label={`${count(counts.added)} added`}>
          <CodeBlock code={json(added)} label="added" wrap />
        </Line>
      )}
      {removed.length > 0 && (
        <Line label={`${count(counts.removed)} removed`}>
          <CodeBlock code={json(removed)} label="removed" wrap />
        </Line>
      )}
      {changed.length > 0 && (
        <Line label={by === null ? 'Changed' : `${count(counts.changed)} changed`}>
          {changed.slice(0, SIDE_BY_SIDE).map(({ key, before, after }) => (
            <div key={String(key)}>
              {key !== null && (
                <p className="mb-1 font-mono text-xs text-muted wrap-anywhere">{String(key)}</p>
              )}
              <TextDiff
                label={key === null ? 'what changed' : `what changed of ${key}`}
                before={json(before)}
                after={json(after)}
              />
            </div>
          ))}
          {changed.length > SIDE_BY_SIDE && (
            <CodeBlock code={json(changed.slice(SIDE_BY_SIDE))} label="the others" wrap />
          )}
        </Line>
      )}
    </>
  );
}

export function Line({ label, children }: { label: string; children: ReactNode }) {
  return (
    <li className="border-b border-line last:border-b-0">
      <Fold summary={<span className="text-sm text-ink">{label}</span>}>{children}</Fold>
    </li>
  );
}

function totalOf({ counts: { added, removed, changed } }: RunChanges): number {
  return added + removed + changed;
}
