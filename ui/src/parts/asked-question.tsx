import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { ANSWER, GO_ON } from '#ui/api/verbs/questions.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { Button } from './button.tsx';
import { Field } from './field.tsx';
import { Textarea } from './input.tsx';
import { Time } from './time.tsx';
import { VerbButton } from './verb-button.tsx';

/** The fields of a run's question that are shown and answered. */
export type Asked = Pick<Shape<'AskedQuestion'>, 'id' | 'question' | 'choices' | 'default' | 'expiresAt'> &
  Partial<Pick<Shape<'AskedQuestion'>, 'state' | 'answer' | 'answeredBy'>>;

export interface AskedProps {
  readonly of: Asked;
  readonly onAnswered?: ((question: Shape<'AskedQuestion'>) => void) | undefined;
}

/** Shows a question as plain text, because a model wrote it, with its answer or the ways to answer it. */
export function AskedQuestion({ of: asked, onAnswered }: AskedProps) {
  const { question, state = 'open' } = asked;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-base whitespace-pre-line text-ink wrap-anywhere">
        {question === null ? 'The question was erased.' : drawn(question)}
      </p>
      {state === 'open' ? (
        <AnswerBox of={asked} onAnswered={onAnswered} />
      ) : (
        <p className="text-sm text-muted">{endInWords(asked)}</p>
      )}
    </div>
  );
}

function endInWords({ state, answer, answeredBy, default: fallback }: Asked): string {
  if (state === 'answered') {
    return answer == null ? 'The answer was erased.' : `${answeredBy?.name ?? 'Answered'}: ${drawn(answer)}`;
  }
  if (state === 'closed') return 'The question can no longer be answered.';
  return fallback === null
    ? 'No answer came in time.'
    : `No answer came in time, so the default holds: ${drawn(fallback)}`;
}

function AnswerBox({ of: asked, onAnswered }: AskedProps) {
  const { id, choices, default: fallback, expiresAt } = asked;
  const [answer, setAnswer] = useState('');
  const onDone = { ...(onAnswered !== undefined && { onDone: onAnswered }) };
  const { changes: refreshes, done } = ANSWER;
  const answering = useSend(ANSWER.method, ANSWER.path, { refreshes, done, showsError: true, ...onDone });
  const goOn = useVerb(GO_ON, onDone);
  const give = (text: string) => answering.send(ANSWER.input({ id, answer: text }));
  const isEmpty = answer.trim() === '';
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a key beside the button for it
    <form
      className="flex flex-col items-start gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isEmpty) give(answer);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit();
      }}
    >
      {choices !== null && (
        <div className="flex flex-wrap gap-2" role="group" aria-label="Proposed answers">
          {choices.map((choice) => (
            <Button
              key={choice}
              size="sm"
              className="h-auto! min-h-7 max-w-full py-1 text-left whitespace-normal! wrap-anywhere pointer-coarse:min-h-9"
              busy={answering.isSending}
              onClick={() => give(choice)}
            >
              {drawn(choice)}
            </Button>
          ))}
        </div>
      )}
      <Field
        label={choices === null ? 'Your answer' : 'Or another answer'}
        description={
          <>
            {fallback === null ? 'Runs go on without an answer' : `Until then the default holds: ${drawn(fallback)}`}.
            Open until <Time at={expiresAt} />.
          </>
        }
        error={answering.error === null ? undefined : errorInWords(answering.error)}
      >
        <Textarea rows={2} maxLength={4_000} value={answer} onChange={({ target }) => setAnswer(target.value)} />
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button
          size="sm"
          type="submit"
          icon={ANSWER.icon}
          busy={answering.isSending}
          disabledReason={isEmpty ? 'Write an answer first.' : undefined}
        >
          {ANSWER.label}
        </Button>
        <VerbButton
          verb={goOn}
          of={asked}
          size="sm"
          kind="quiet"
          label={fallback === null ? GO_ON.label : 'Keep the default'}
        />
      </div>
    </form>
  );
}
