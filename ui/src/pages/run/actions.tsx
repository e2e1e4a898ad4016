import { useNavigate } from '@tanstack/react-router';
import { Pin, PinOff } from 'lucide-react';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { CANCEL_RUN, RUN_AGAIN } from '#ui/api/verbs/runs.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { isOver } from '#ui/format/run-words.ts';
import { IconButton } from '#ui/parts/button.tsx';
import { VerbButton } from '#ui/parts/verb-button.tsx';

export interface ActionsProps {
  readonly run: Shape<'RunDetail'>;
  readonly projectId: string;
}

/** Offers the actions on a run: keep it, cancel it or repeat it. */
export function Actions({ run, projectId }: ActionsProps) {
  const pin = useSend('patch', '/v1/runs/{runId}', {
    refreshes: ['/v1/runs'],
    done: ({ pinned }) => (pinned ? 'Run pinned' : 'Run unpinned'),
  });
  const pinned = pin.sent?.body.pinned ?? run.pinned;
  return (
    <>
      <IconButton
        icon={pinned ? PinOff : Pin}
        label={pinned ? 'Unpin: let it be deleted with the others' : 'Pin: keep it for good'}
        aria-pressed={pinned}
        onClick={() => pin.send({ path: { runId: run.id }, body: { pinned: !pinned } })}
      />
      {isOver(run) ? <Retry run={run} projectId={projectId} /> : <Cancel run={run} />}
    </>
  );
}

function Retry({ run, projectId }: ActionsProps) {
  const navigate = useNavigate();
  const again = useVerb(RUN_AGAIN, {
    onDone: ({ id }) => navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: id } }),
  });
  // After a success the reader's next step is another one, such as to activate the routine.
  return <VerbButton verb={again} of={run} kind={run.state === 'succeeded' ? 'secondary' : 'primary'} />;
}

function Cancel({ run }: Pick<ActionsProps, 'run'>) {
  return <VerbButton verb={useVerb(CANCEL_RUN)} of={run} />;
}
