import { Archive, CalendarClock, History, KeyRound, Pause, Play, Rewind, Wrench } from 'lucide-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';

const BackfillDialog = lazy(() => import('./backfill-dialog.tsx'));
const RotateSecret = lazy(() => import('./rotate-secret.tsx'));
const RunDialog = lazy(() => import('./run-dialog.tsx'));

type Opened = 'run' | 'backfill' | 'pause' | 'archive' | 'secret';

/** Offers what can be done with a routine in its present state. */
export function Actions({ routine }: { readonly routine: Shape<'RoutineDetail'> }) {
  const { id: routineId, state, webhookUrl, variables, overridable } = routine;
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Opened | null>(null);
  const close = () => setOpen(null);
  const path = { routineId };
  const run = useSend('post', '/v1/routines/{routineId}/run', {
    refreshes: ['/v1/runs', '/v1/routines'],
    onDone: ({ id }) => navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: id } }),
  });
  const isArchived = state === 'archived';
  const archivedReason = isArchived ? 'It is archived.' : undefined;
  return (
    <>
      <Button
        kind="primary"
        icon={Play}
        busy={run.isSending}
        disabledReason={archivedReason}
        onClick={() => run.send({ path })}
      >
        Run now
      </Button>
      <Menu
        groups={[
          [
            {
              label: 'Run with other values or later',
              icon: CalendarClock,
              onSelect: () => setOpen('run'),
              disabledReason: archivedReason,
            },
            {
              label: 'Run for missed times',
              icon: Rewind,
              onSelect: () => setOpen('backfill'),
              disabledReason:
                archivedReason ??
                (routine.activation.proofRunId === null ? 'A run of this version has to succeed first.' : undefined),
            },
            {
              label: 'Pause',
              icon: Pause,
              onSelect: () => setOpen('pause'),
              disabledReason: state === 'paused' ? 'It is paused already.' : archivedReason,
            },
          ],
          [
            {
              label: 'Versions',
              icon: History,
              onSelect: () =>
                void navigate({
                  to: '/p/$projectId/routines/$routineId/versions',
                  params: { projectId, routineId },
                }),
            },
            {
              label: 'Tools',
              icon: Wrench,
              onSelect: () =>
                void navigate({
                  to: '/p/$projectId/routines/$routineId/tools',
                  params: { projectId, routineId },
                }),
            },
            {
              label: 'Replace the webhook secret',
              icon: KeyRound,
              onSelect: () => setOpen('secret'),
              disabledReason: archivedReason ?? (webhookUrl === null ? 'It has no webhook.' : undefined),
            },
          ],
          [
            {
              label: 'Archive',
              icon: Archive,
              danger: true,
              onSelect: () => setOpen('archive'),
              disabledReason: archivedReason,
            },
          ],
        ]}
      />
      <PauseDialog routineId={routineId} open={open === 'pause'} onClose={close} />
      <ArchiveDialog routine={routine} open={open === 'archive'} onClose={close} />
      <Suspense>
        {open === 'run' && (
          <RunDialog routineId={routineId} variables={variables} overridable={overridable} onClose={close} />
        )}
        {open === 'backfill' && <BackfillDialog routineId={routineId} onClose={close} />}
        {open === 'secret' && <RotateSecret routineId={routineId} onClose={close} />}
      </Suspense>
    </>
  );
}

function PauseDialog({ routineId, open, onClose }: { routineId: string; open: boolean; onClose: () => void }) {
  const [cancelRuns, setCancelRuns] = useState(false);
  const pause = useSend('post', '/v1/routines/{routineId}/pause', {
    refreshes: ['/v1/routines', '/v1/runs'],
    done: 'Routine paused',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      kind="primary"
      busy={pause.isSending}
      title="Pause this routine?"
      description={
        <div className="flex flex-col gap-4">
          <p>It leaves its schedule until you activate it again. Scheduled runs that have not begun are skipped.</p>
          <Checkbox
            label="Also cancel the runs that are open"
            description="Those under way, and those that were started by hand."
            checked={cancelRuns}
            onChange={setCancelRuns}
          />
        </div>
      }
      action="Pause routine"
      onConfirm={() => pause.send({ path: { routineId }, body: { cancelRuns } })}
    />
  );
}

function ArchiveDialog({
  routine,
  open,
  onClose,
}: {
  routine: Shape<'RoutineDetail'>;
  open: boolean;
  onClose: () => void;
}) {
  const archive = useSend('delete', '/v1/routines/{routineId}', {
    refreshes: ['/v1/routines', '/v1/runs'],
    done: 'Routine archived',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      busy={archive.isSending}
      title={`Archive ${routine.name}?`}
      description="It never runs again, and cannot be brought back. Its runs and versions stay."
      action="Archive routine"
      onConfirm={() => archive.send({ path: { routineId: routine.id } })}
    />
  );
}
