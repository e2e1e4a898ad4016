import { CalendarClock, History, KeyRound, Rewind, Send, Wrench } from 'lucide-react';
import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { ARCHIVE, PAUSE, RESTORE, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { Menu } from '#ui/parts/menu.tsx';
import { itemOf, VerbButton } from '#ui/parts/verb-button.tsx';

const BackfillDialog = lazy(() => import('./backfill-dialog.tsx'));
const RotateSecret = lazy(() => import('./rotate-secret.tsx'));
const RunDialog = lazy(() => import('./run-dialog.tsx'));

type Opened = 'run' | 'backfill' | 'secret';

/** Offers the actions that are possible in the present state of a routine. */
export function Actions({ routine }: { readonly routine: Shape<'RoutineDetail'> }) {
  const { id: routineId, state, webhookUrl, variables, overridable } = routine;
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Opened | null>(null);
  const close = () => setOpen(null);
  const run = useVerb(RUN_NOW, {
    onDone: ({ id }) => navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: id } }),
  });
  const pause = useVerb(PAUSE);
  const archive = useVerb(ARCHIVE);
  const restore = useVerb(RESTORE);
  const test = useSend('post', '/v1/routines/{routineId}/webhook-test', {
    onDone: ({ status, error }) => {
      if (status !== null && status < 300) toast.done(`The receiver took the test event (status ${status})`);
      else {
        const message = `The receiver did not take the test event: ${error ?? `status ${status}`}`;
        toast.failed({ message, requestId: undefined });
      }
    },
  });
  const isArchived = state === 'archived';
  const archivedReason = isArchived ? 'The routine is archived.' : undefined;
  return (
    <>
      <VerbButton verb={run} of={routine} kind="primary" />
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
            itemOf(pause, routine),
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
              label: 'Send a test event',
              icon: Send,
              onSelect: () => test.send({ path: { routineId } }),
              disabledReason: archivedReason ?? (webhookUrl === null ? 'The routine has no webhook.' : undefined),
            },
            {
              label: 'Replace the webhook secret',
              icon: KeyRound,
              onSelect: () => setOpen('secret'),
              disabledReason: archivedReason ?? (webhookUrl === null ? 'The routine has no webhook.' : undefined),
            },
          ],
          [isArchived ? itemOf(restore, routine) : itemOf(archive, routine)],
        ]}
      />
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
