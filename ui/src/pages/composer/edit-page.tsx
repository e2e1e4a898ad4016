import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { WebhookSecret } from '#ui/parts/lazily.tsx';
import { errorInWords } from '#ui/api/form.ts';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { useRead } from '#ui/api/read.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { ManagedNotice } from '#ui/parts/managed.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Composer } from './composer.tsx';
import type { Conflict } from './conflict.tsx';
import { changedFields, formOf, patchOf, type RoutineForm } from './form.ts';
import { ComposerSkeleton } from './new-page.tsx';
import { useEditor } from './use-editor.ts';

const ConflictDialog = lazy(() => import('./conflict.tsx'));

const { useParams, useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/$routineId/edit');

export function EditRoutinePage() {
  const { routineId } = useParams();
  const projectId = useProjectId();
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } });
  return (
    <>
      <PageHeader
        title={routine.data?.name ?? 'Routine'}
        documentTitle={`Edit ${routine.data?.name ?? 'routine'}`}
        badge={routine.data && <StateBadge state={routine.data.state} />}
        back={{
          label: 'Routine',
          link: {
            to: '/p/$projectId/routines/$routineId',
            params: { projectId, routineId },
          },
        }}
      />
      <Await of={routine} skeleton={<ComposerSkeleton />} errorTitle="The routine could not be read">
        {(data) =>
          data.state === 'archived' ? (
            <EmptyState title="This routine is archived">
              It cannot be changed any more. Its runs and versions stay.
            </EmptyState>
          ) : (
            <EditRoutine key={routineId} routine={data} etag={routine.etag} />
          )
        }
      </Await>
    </>
  );
}

function EditRoutine({ routine, etag: first }: { routine: Shape<'RoutineDetail'>; etag: string | undefined }) {
  const { id: routineId } = routine;
  const projectId = useProjectId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { run: runId } = useSearch();
  const [etag, setEtag] = useState(first);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const save = useSend('patch', '/v1/routines/{routineId}', {
    refreshes: ['/v1/routines'],
    done: 'Saved',
    showsError: true,
    onDone: (saved, reply) => {
      setEtag(reply.etag);
      if (saved.webhookSecret !== undefined) setSecret(saved.webhookSecret);
    },
  });
  const run = useVerb(RUN_NOW, { showsError: true });
  const patch = (form: RoutineForm, base: RoutineForm, ifMatch: string | undefined) =>
    save.sendAsync({ path: { routineId }, body: patchOf(form, changedFields(base, form)) }, { ifMatch });
  const editor = useEditor({
    initial: formOf(routine),
    isSaved: true,
    onSave: async (form, base) => {
      try {
        return (await patch(form, base, etag)).id;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error;
        const now = await call('get', '/v1/routines/{routineId}', { path: { routineId } }, { projectId });
        setConflict({ base, mine: form, theirs: formOf(now.data), etag: now.etag });
        return undefined;
      }
    },
    onSaved: () => undefined,
    onTest: async () => {
      const started = await run.actAsync({ id: routineId });
      await navigate({ search: { run: started.id }, replace: true });
    },
  });
  const resolve = async (merged: RoutineForm) => {
    if (conflict === null) return;
    try {
      if (changedFields(conflict.theirs, merged).length > 0) {
        await patch(merged, conflict.theirs, conflict.etag);
      } else {
        setEtag(conflict.etag);
        await refresh(client, projectId, ['/v1/routines']);
      }
      editor.rebase(merged);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Saved once more meanwhile, or refused: both are shown in the form.
      editor.form.setError('root', { message: errorInWords(error) });
    }
    setConflict(null);
  };
  return (
    <>
      <ManagedNotice of={routine} />
      <Composer
        editor={editor}
        routine={routine}
        runId={runId}
        cancel={
          <ButtonLink to="/p/$projectId/routines/$routineId" params={{ projectId, routineId }}>
            {editor.changed.length > 0 ? 'Cancel' : 'Done'}
          </ButtonLink>
        }
      />
      {conflict !== null && (
        <Suspense>
          <ConflictDialog
            conflict={conflict}
            onClose={() => setConflict(null)}
            onResolve={(merged) => void resolve(merged)}
            isSaving={save.isSending}
          />
        </Suspense>
      )}
      <WebhookSecret
        open={secret !== null}
        onClose={() => setSecret(null)}
        title="The webhook secret"
        description="Your receiver verifies each delivery with it. It cannot be shown again; you can replace it later."
        secret={secret ?? ''}
      />
    </>
  );
}
