import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { AskedQuestion } from '#ui/parts/asked-question.tsx';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { pretty } from '#ui/format/json-text.ts';

type Run = Shape<'RunDetail'>;

/** Shows the questions that a run asked people, if it called the tool for questions. */
export function AskedQuestions({ run }: { readonly run: Run }) {
  const hasAsked = run.steps.some(({ tool }) => tool?.toolName === 'ask' && tool.connectionId === null);
  return hasAsked && run.trigger !== 'rehearsal' ? <QuestionsOf runId={run.id} /> : null;
}

function QuestionsOf({ runId }: { readonly runId: string }) {
  const asked = useList('/v1/questions', { query: { runId } });
  if (asked.data?.length === 0) return null;
  return (
    <Section
      title="The run asks you"
      description="The run continued without the answer; later runs get the answer."
      className="mt-8"
    >
      <Await of={asked} skeleton={<SkeletonRows rows={2} />} errorTitle="The questions of this run could not be read">
        {(questions) => (
          <ul className="flex flex-col gap-3">
            {questions.map((each) => (
              <li key={each.id} className="rounded-lg border border-line bg-surface px-4 py-3">
                <AskedQuestion of={each} />
              </li>
            ))}
          </ul>
        )}
      </Await>
    </Section>
  );
}

/** Says that a run is a rehearsal, and lists the calls that it did not make. */
export function Rehearsal({ run }: { readonly run: Run }) {
  if (run.trigger !== 'rehearsal') return null;
  return (
    <>
      <Notice className="mt-4">
        Rehearsal: only tools that read were called. Nothing was changed, and the result does not count for the routine.
      </Notice>
      <Section title="Would have done" className="mt-8">
        {run.wouldHaveDone.length === 0 ? (
          <p className="text-base text-muted">Nothing: the run asked for no call that may write.</p>
        ) : (
          <ol className="flex flex-col gap-3">
            {run.wouldHaveDone.map(({ stepIndex, name, connectionName, arguments: given }) => (
              <li key={stepIndex} className="rounded-lg border border-line bg-surface px-4 py-3">
                <p className="text-base font-medium text-ink wrap-anywhere">
                  {drawn(name)}
                  {connectionName !== null && <span className="text-muted"> on {drawn(connectionName)}</span>}
                </p>
                {given !== null && <CodeBlock code={pretty(given)} label="arguments" wrap maxHeight="sm" />}
              </li>
            ))}
          </ol>
        )}
      </Section>
    </>
  );
}
