import type { Shape } from '#ui/api/types.ts';
import { sentence } from '#ui/format/capitalized.ts';
import { lineOf, newsBadgeOf, type LineSource } from '#ui/format/run-words.ts';
import { describeState, Dot } from './state.tsx';

export interface Outcome
  extends LineSource, Pick<Shape<'LastEndedRun'>, 'outcome'>, Partial<Pick<Shape<'Run'>, 'urgency'>> {
  readonly state: string;
}

/** Shows in one line the summary of a run, or the reason of its failure. */
export function OutcomeLine({ run }: { readonly run: Outcome }) {
  const { label, tone } = describeState(newsBadgeOf({ urgency: 'normal', ...run }));
  const said = lineOf(run);
  return (
    <span className="flex min-w-0 items-center gap-2" title={said === undefined ? label : `${label}: ${said}`}>
      <Dot tone={tone} />
      <span className="truncate">
        <span className="sr-only">{label}: </span>
        {said === undefined ? label : sentence(said)}
      </span>
    </span>
  );
}
