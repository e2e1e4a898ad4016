import { useNavigate } from '@tanstack/react-router';
import { CircleStop, ExternalLink, Pin, PinOff, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { isOver } from '#ui/format/run-words.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Tooltip } from '#ui/parts/tooltip.tsx';

export interface ActionsProps {
  readonly run: Shape<'RunDetail'>;
  readonly projectId: string;
}

const REFRESHED = ['/v1/runs', '/v1/routines'];

/** Offers what can be done with a run: keep it, look at its workflow, cancel it or repeat it. */
export function Actions({ run, projectId }: ActionsProps) {
  const pin = useSend('patch', '/v1/runs/{runId}', {
    refreshes: ['/v1/runs'],
    done: ({ pinned }) => (pinned ? 'Run pinned' : 'Run unpinned'),
  });
  return (
    <>
      {run.workflowUrl !== null && (
        <Tooltip text="Open its workflow in the Temporal UI">
          <a
            href={run.workflowUrl}
            target="_blank"
            rel="noreferrer noopener"
            className="inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-base font-medium text-muted hover:bg-hover hover:text-ink pointer-coarse:h-10"
          >
            <ExternalLink aria-hidden className="size-4" strokeWidth={1.75} />
            Temporal
          </a>
        </Tooltip>
      )}
      <IconButton
        icon={run.pinned ? PinOff : Pin}
        label={run.pinned ? 'Unpin: let it be deleted with the others' : 'Pin: keep it for good'}
        aria-pressed={run.pinned}
        busy={pin.isSending}
        onClick={() => pin.send({ path: { runId: run.id }, body: { pinned: !run.pinned } })}
      />
      {isOver(run) ? <Retry run={run} projectId={projectId} /> : <Cancel run={run} />}
    </>
  );
}

function Retry({ run, projectId }: ActionsProps) {
  const navigate = useNavigate();
  const retry = useSend('post', '/v1/runs/{runId}/retry', {
    refreshes: REFRESHED,
    done: 'Run started',
    onDone: ({ id }) => navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: id } }),
  });
  return (
    <Button
      kind="primary"
      icon={RotateCw}
      busy={retry.isSending}
      disabledReason={run.contentErasedAt === null ? undefined : 'Its variables are erased. Start a new run.'}
      onClick={() => retry.send({ path: { runId: run.id } })}
    >
      Run again
    </Button>
  );
}

function Cancel({ run }: Pick<ActionsProps, 'run'>) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useSend('post', '/v1/runs/{runId}/cancel', {
    refreshes: REFRESHED,
    onDone: () => setAsking(false),
  });
  return (
    <>
      <Button
        icon={CircleStop}
        disabledReason={run.cancelRequestedAt === null ? undefined : 'It is being cancelled.'}
        onClick={() => setAsking(true)}
      >
        Cancel run
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => cancel.send({ path: { runId: run.id } })}
        busy={cancel.isSending}
        title="Cancel this run?"
        description="It stops within seconds, in the middle of its model call. What it has used so far is counted, and what its tools have done is not undone."
        action="Cancel run"
      />
    </>
  );
}
