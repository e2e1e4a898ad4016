import { Send } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { isOver } from '#ui/format/run-words.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Textarea } from '#ui/parts/input.tsx';
import { RichText } from '#ui/parts/lazily.tsx';
import { Section } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

/** Shows the questions about a result with their answers, and takes the next question. */
export function Questions({ run }: { readonly run: Shape<'RunDetail'> }) {
  const [message, setMessage] = useState('');
  const ask = useSend('post', '/v1/runs/{runId}/follow-up', {
    refreshes: ['/v1/runs'],
    showsError: true,
    onDone: () => setMessage(''),
  });
  const isEmpty = message.trim() === '';
  return (
    <Section title="Questions about the result" className="mt-8 print:hidden">
      <ol className="flex flex-col gap-3 empty:hidden">
        {run.followUps.map((each) => (
          <Answer key={each.id} of={each} />
        ))}
      </ol>
      <form
        className="mt-3 flex flex-col items-start gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isEmpty) ask.send({ path: { runId: run.id }, body: { message } });
        }}
      >
        <Field
          label="Your question"
          description="A run of this version answers the question. That run counts towards budgets, and changes nothing in the routine."
          error={ask.error === null ? undefined : errorInWords(ask.error)}
        >
          <Textarea
            rows={2}
            maxLength={4_000}
            value={message}
            onChange={({ target }) => setMessage(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        </Field>
        <Button
          size="sm"
          type="submit"
          icon={Send}
          busy={ask.isSending}
          disabledReason={isEmpty ? 'Write a question first.' : undefined}
        >
          Ask
        </Button>
      </form>
    </Section>
  );
}

function Answer({ of: { id, message, state, errorMessage, result, createdAt } }: { readonly of: Shape<'FollowUp'> }) {
  const projectId = useProjectId();
  return (
    <li className="rounded-lg border border-line bg-surface">
      <p className="rounded-t-lg bg-sunken px-4 py-2.5 text-base whitespace-pre-line text-ink wrap-anywhere">
        {message === null ? 'The question was erased.' : drawn(message)}
      </p>
      <div className="px-4 py-3" aria-busy={!isOver({ state })} role="status">
        {result !== null ? (
          <RichText text={result} />
        ) : (
          <span className="flex flex-wrap items-center gap-2 text-sm text-muted">
            <StateBadge state={state} />
            {errorMessage !== null && drawn(errorMessage)}
          </span>
        )}
        <p className="mt-2 text-xs text-faint">
          <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: id }}>
            Run of this answer
          </TextLink>
          , <Time at={createdAt} as="relative" />
        </p>
      </div>
    </li>
  );
}

/** Shows the question of an answer, and leads to the result that the question is about. */
export function Asked({ run: { message, followsUp } }: { readonly run: Shape<'RunDetail'> }) {
  const projectId = useProjectId();
  if (followsUp === null) return null;
  return (
    <div className="mt-4 rounded-lg border border-line bg-sunken px-4 py-3 text-base text-ink">
      <p className="whitespace-pre-line wrap-anywhere">
        {message === null ? 'The question was erased.' : drawn(message)}
      </p>
      <p className="mt-1 text-sm">
        <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: followsUp }}>
          The result that the question is about
        </TextLink>
      </p>
    </div>
  );
}
