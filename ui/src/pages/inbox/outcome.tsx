import type { Shape } from '#ui/api/types.ts';
import { endOf } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { count } from '#ui/format/numbers.ts';
import { CodeBlock } from '#ui/parts/copy.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Time } from '#ui/parts/time.tsx';

type Action = Shape<'Action'>;

/** Shows the decision about a call and its result. */
export function Outcome({ action }: { readonly action: Action }) {
  const { state, note, decidedBy, decidedAt, result, resultLength } = action;
  if (state === 'open') return null;
  const [tone, words] = saidOf(action);
  return (
    <div role="status" className="flex flex-col gap-3">
      <Notice tone={tone} busy={state === 'approved' || state === 'sending'}>
        <div className="min-w-0 grow">
          <p>{words}</p>
          {note !== null && <p className="mt-1 whitespace-pre-line wrap-anywhere">“{drawn(note)}”</p>}
          {decidedAt !== null && (
            <p className="mt-1 text-sm text-muted">
              Decided by {decidedBy?.name ?? 'a person or key that is gone'}, <Time at={decidedAt} as="relative" />
            </p>
          )}
        </div>
      </Notice>
      {result !== null && result !== '' && (
        <div>
          <p className="mb-1 text-sm text-muted">
            The tool answered
            {resultLength !== null &&
              resultLength > result.length &&
              `, the first ${count(result.length)} of ${count(resultLength)} characters`}
          </p>
          <CodeBlock label="answer" code={result} wrap maxHeight="sm" />
        </div>
      )}
    </div>
  );
}

function saidOf(action: Action): readonly [tone: 'info' | 'good' | 'warn' | 'bad', words: string] {
  const { state, errorMessage, connectionName, account } = action;
  const why = [endOf(action), errorMessage === null ? undefined : drawn(errorMessage)].filter(Boolean).join(' ');
  switch (state) {
    case 'approved':
      return ['info', `Approved. The call is sent as soon as ${drawn(connectionName)} accepts it. ${why}`.trim()];
    case 'sending':
      return ['info', 'The request is under way.'];
    case 'done':
      return ['good', 'The tool has carried out the call.'];
    case 'failed':
      return ['bad', why || 'The tool answered with an error.'];
    case 'outcome_unknown':
      return [
        'warn',
        `The call may have taken effect, which nothing confirms. It is not sent again: look at ${drawn(account ?? connectionName)}, and make the change there by hand if it is missing.`,
      ];
    case 'rejected':
      return ['info', why || 'Rejected. The call was never sent.'];
    case 'replaced':
      return ['info', 'A person has changed the arguments. The call was not sent as it stands here.'];
    default:
      return ['warn', `The call can no longer be carried out. ${why}`.trim()];
  }
}
