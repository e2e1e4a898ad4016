import type { Shape } from '#ui/api/types.ts';
import { sentence } from '#ui/format/capitalized.ts';
import { describeState, Dot } from './state.tsx';

export interface Outcome {
  readonly state: string;
  readonly outcome: NonNullable<Shape<'LastEndedRun'>>['outcome'];
  readonly outcomeSummary: string | null;
  readonly errorMessage: string | null;
  readonly resultPreview: string | null;
}

/** Shows in one line the summary of a run, or the reason of its failure. */
export function OutcomeLine({ run }: { readonly run: Outcome }) {
  const { label, tone } = describeState(run.outcome ?? run.state);
  const said = run.outcomeSummary ?? run.errorMessage ?? firstLine(run.resultPreview);
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

/** Returns the first line with content, without the marks of Markdown. */
function firstLine(text: string | null): string | undefined {
  return text
    ?.split('\n')
    .map((line) => line.replace(/^[#>*\-\s]+/, '').replaceAll(/[*_`]/g, ''))
    .find((line) => /[\p{L}\p{N}]/u.test(line));
}
