import { useRef } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { ANSWER, GO_ON } from '#ui/api/verbs/questions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { AskedQuestion } from '#ui/parts/asked-question.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { usePageKeys } from '#ui/parts/page-keys.ts';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

type Question = Shape<'AskedQuestion'>;

export interface QuestionPaneProps {
  readonly id: string;
  readonly onAnswered: (question: Question) => void;
}

/** Shows a question of a run, and takes the answer. */
export function QuestionPane({ id, onAnswered }: QuestionPaneProps) {
  const read = useRead('/v1/questions/{questionId}', { path: { questionId: id } }, { everyMs: 15_000 });
  return (
    <Await of={read} skeleton={<SkeletonText lines={4} />} errorTitle="This question could not be read">
      {(question) => <Shown question={question} onAnswered={onAnswered} />}
    </Await>
  );
}

function Shown({ question, onAnswered }: Pick<QuestionPaneProps, 'onAnswered'> & { readonly question: Question }) {
  const projectId = useProjectId();
  const pane = useRef<HTMLElement>(null);
  const goOn = useVerb(GO_ON, { onDone: onAnswered });
  const { state, routineName, lastRunId, lastAskedAt, times } = question;
  usePageKeys((key) => {
    if (state !== 'open' || pane.current?.checkVisibility() !== true) return false;
    if (key === ANSWER.key) pane.current.querySelector<HTMLElement>('form :is(button, textarea)')?.focus();
    else if (key === GO_ON.key) goOn.act(question);
    else return false;
    return true;
  });
  return (
    <article ref={pane} aria-label={`Question of ${drawn(routineName)}`} className="flex min-w-0 flex-col gap-5">
      <header>
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
          <h2 className="text-lg font-semibold text-ink">Question</h2>
          <StateBadge state={state} />
        </div>
        <p className="mt-1 text-base text-muted wrap-anywhere">
          Asked by{' '}
          <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: lastRunId }}>
            {drawn(routineName)}
          </TextLink>{' '}
          <Time at={lastAskedAt} as="relative" />
          {times > 1 && `, ${times} times so far`}. The run continued without the answer; later runs get the answer.
        </p>
      </header>
      <AskedQuestion of={question} onAnswered={onAnswered} />
    </article>
  );
}
