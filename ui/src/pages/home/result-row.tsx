import type { Shape } from '#ui/api/types.ts';
import type { Doing } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { money } from '#ui/format/numbers.ts';
import { reasonOf } from '#ui/format/run-words.ts';
import { unmarked } from '#ui/format/unmarked.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { OutcomeLine } from '#ui/parts/outcome-line.tsx';
import { Badge, type Tone } from '#ui/parts/state.tsx';
import { RowLink } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';
import { differencesOf } from './difference-words.ts';
import { Differences } from './differences.tsx';
import type { Group } from './brief.ts';

type Result = Shape<'Result'>;

const KINDS: Readonly<Record<Result['kind'], readonly [label: string, tone: Tone]>> = {
  failed: ['Failed', 'bad'],
  partial: ['Succeeded in part', 'warn'],
  first: ['First result', 'news'],
  changed: ['Changed', 'news'],
  unchanged: ['Unchanged', 'idle'],
};

interface ItemProps {
  readonly results: Group;
  readonly projectId: string;
  readonly onRead: () => void;
  readonly again: Doing<{ id: string }>;
}

/**
 * Shows the latest result of a routine: its beginning and its differences, or the time from which it is out of date.
 */
export function ResultRow({ results: [result, ...earlier], projectId, onRead, again }: ItemProps) {
  const { overtakenBy } = result;
  const [label, tone] = overtakenBy === null ? looksOf(result) : OVER;
  const said = textOf(result);
  const differences = overtakenBy === null ? differencesOf(result, said) : [];
  return (
    <li data-run={result.runId} className="relative border-b border-line px-2 py-3 hover:bg-hover">
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
          {Number(result.costUsd) >= 0.01 && <>{money(result.costUsd)} · </>}
          <Time at={result.finishedAt} as="relative" />
        </span>
      </div>
      {overtakenBy !== null && (
        <div className="mt-1 flex min-w-0 gap-1.5 text-sm text-ink max-sm:flex-col">
          <span className="shrink-0 text-muted">
            {overtakenBy.versionChanged ? 'With other instructions since' : 'Over since'}{' '}
            <Time at={overtakenBy.finishedAt} />:
          </span>
          <OutcomeLine run={{ ...overtakenBy, state: 'succeeded', reason: null, errorMessage: null }} />
        </div>
      )}
      <Text text={said} short={differences.length > 0 || overtakenBy !== null} />
      <Differences found={differences} result={result} />
      {/* Above the link that covers the row, so that the buttons take clicks. */}
      <div className="relative z-10 mt-1.5 -ml-2 flex w-fit gap-1">
        <Button size="sm" kind="quiet" onClick={onRead}>
          Mark as read
        </Button>
        <VerbButton verb={again} of={{ id: result.runId }} size="sm" kind="quiet" bare />
      </div>
    </li>
  );
}

const OVER = ['Over', 'idle'] as const;
/** The badge says that the model judged the urgency. */
const URGENT = ['Urgent, according to the model', 'warn'] as const;

function looksOf({ urgency, kind }: Result): readonly [label: string, tone: Tone] {
  return urgency === 'high' ? URGENT : KINDS[kind];
}

/** Returns the beginning of a text, or the reason for its absence; empty for data, whose differences are shown. */
function textOf(result: Result): string {
  const { kind, outcomeSummary, excerpt, changes } = result;
  if (outcomeSummary !== null) return unmarked(outcomeSummary);
  if (kind === 'failed') return reasonOf(result) ?? '';
  return changes === null ? unmarked(excerpt ?? '') : '';
}

function Text({ text, short }: { readonly text: string; readonly short: boolean }) {
  if (text === '') return null;
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
    <ul className="-mx-2 border-t border-line">
      {results.map((result) => (
        <li
          key={result.runId}
          className="relative flex items-center gap-2.5 border-b border-line px-2 py-2 hover:bg-hover"
        >
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
