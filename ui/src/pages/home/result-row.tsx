import type { Shape } from '#ui/api/types.ts';
import type { Doing } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { money } from '#ui/format/numbers.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { OutcomeLine } from '#ui/parts/outcome-line.tsx';
import { Badge, type Tone } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';
import { Differences, differencesOf, plainText } from './differences.tsx';
import type { Group } from './result-groups.ts';

type Result = Shape<'Result'>;

const KINDS: Readonly<Record<Result['kind'], readonly [label: string, tone: Tone]>> = {
  failed: ['Failed', 'bad'],
  partial: ['Succeeded in part', 'warn'],
  first: ['First result', 'busy'],
  changed: ['Changed', 'busy'],
  unchanged: ['Unchanged', 'idle'],
};

interface ItemProps {
  readonly results: Group;
  /** The run that has succeeded since. */
  readonly later: NonNullable<Shape<'LastEndedRun'>> | undefined;
  readonly projectId: string;
  readonly onRead: () => void;
  readonly again: Doing<{ id: string }>;
}

/** Shows the latest result of a routine: its beginning and its differences. */
export function ResultRow({ results: [result, ...earlier], later, projectId, onRead, again }: ItemProps) {
  const [label, tone] = KINDS[result.kind];
  const differences = differencesOf(result);
  return (
    <li data-run={result.runId} className="relative border-b border-line py-3 hover:bg-hover">
      <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <RowLink
          to="/p/$projectId/runs/$runId"
          params={{ projectId, runId: result.runId }}
          className="min-w-0 truncate text-base font-medium"
        >
          {drawn(result.routineName)}
        </RowLink>
        <Badge tone={tone}>{label}</Badge>
        {earlier.length > 0 && <span className="text-sm text-muted">and {earlier.length} earlier</span>}
        <span className="ml-auto text-sm text-muted tabular">
          {result.costUsd !== null && <>{money(result.costUsd)} · </>}
          <Time at={result.finishedAt} as="relative" />
        </span>
      </div>
      {later !== undefined && (
        <div className="mt-1 flex min-w-0 gap-1.5 text-sm text-ink">
          <span className="shrink-0 text-muted">
            Since <Time at={later.finishedAt} />:
          </span>
          <OutcomeLine run={later} />
        </div>
      )}
      <Text result={result} short={differences.length > 0} />
      <Differences found={differences} result={result} />
      {/* Above the link that covers the row. */}
      <div className="relative z-10 mt-1.5 -ml-2 flex w-fit gap-1">
        <Button size="sm" kind="quiet" onClick={onRead}>
          Mark as read
        </Button>
        <VerbButton verb={again} of={{ id: result.runId }} size="sm" kind="quiet" bare />
      </div>
    </li>
  );
}

/** Shows the beginning of a text, or the reason why there is none. Data is summed up by its differences. */
function Text({ result, short }: { readonly result: Result; readonly short: boolean }) {
  const { kind, outcomeSummary, excerpt, changes } = result;
  const text =
    outcomeSummary ?? (kind === 'failed' ? reasonOf(result) : changes === null ? plainText(excerpt ?? '') : '');
  if (text === null || text === '') return null;
  return (
    <p
      className={cx(
        'mt-1 text-sm whitespace-pre-line text-muted wrap-anywhere',
        short ? 'line-clamp-1' : 'line-clamp-3',
      )}
    >
      {drawn(text)}
    </p>
  );
}

/** Lists results in a line each. */
export function ShortRows({ results, projectId }: { results: readonly Result[]; projectId: string }) {
  return (
    <ul className="border-t border-line">
      {results.map((result) => (
        <li key={result.runId} className="relative flex items-center gap-2.5 border-b border-line py-2 hover:bg-hover">
          <RowLink
            to="/p/$projectId/runs/$runId"
            params={{ projectId, runId: result.runId }}
            className="min-w-0 truncate text-base"
          >
            {drawn(result.routineName)}
          </RowLink>
          <Badge tone={KINDS[result.kind][1]}>{KINDS[result.kind][0]}</Badge>
          <Time at={result.finishedAt} as="relative" className="ml-auto shrink-0 text-sm text-muted" />
        </li>
      ))}
    </ul>
  );
}
