import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useEffectEvent, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { WebhookSecret } from '#ui/parts/lazily.tsx';
import { errorInWords } from '#ui/api/form.ts';
import { call } from '#ui/api/call.ts';
import { ApiError } from '#ui/api/error.ts';
import { useRead } from '#ui/api/read.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { CHANGES, RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Composer, ComposerSkeleton } from './composer.tsx';
import type { Conflict } from './conflict.tsx';
import { changedFields, formOf, patchOf, type RoutineForm } from './form.ts';
import { useEditor } from './use-editor.ts';

const ConflictDialog = lazy(() => import('./conflict.tsx'));
const ManagedNotice = lazy(async () => ({ default: (await import('#ui/parts/managed.tsx')).ManagedNotice }));
const ProposalNotice = lazy(async () => ({ default: (await import('#ui/parts/proposal.tsx')).ProposalNotice }));

const { useParams, useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/$routineId/edit');

export function EditRoutinePage() {
  const { routineId } = useParams();
  const projectId = useProjectId();
  const [everyMs, setEveryMs] = useState<number | false>(false);
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } }, { everyMs });
  const wanted = routine.data?.proposal?.state === 'open' && PROPOSED_MS;
  if (wanted !== everyMs) setEveryMs(wanted);
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
              The routine can no longer be changed. Its runs and versions stay.
            </EmptyState>
          ) : (
            <EditRoutine key={routineId} routine={data} etag={routine.etag} />
          )
        }
      </Await>
    </>
  );
}

/** The form of a change that a run tries. */
interface Tried {
  readonly id: string;
  readonly form: RoutineForm;
}

/** Interval at which a routine is read while a run tries its change. */
const PROPOSED_MS = 2_000;

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
  const propose = useSend('post', '/v1/routines/{routineId}/proposals', {
    refreshes: CHANGES,
    done: 'Being tried',
    showsError: true,
    onDone: ({ webhookSecret }) => setSecret(webhookSecret ?? null),
  });
  const [tried, setTried] = useState<Tried | null>(null);
  const run = useVerb(RUN_NOW, { showsError: true });
  const patch = (form: RoutineForm, base: RoutineForm, ifMatch: string | undefined) =>
    save.sendAsync({ path: { routineId }, body: patchOf(form, changedFields(base, form)) }, { ifMatch });
  const tryOut = async (form: RoutineForm, base: RoutineForm, ifMatch: string | undefined) => {
    const body = { patch: patchOf(form, changedFields(base, form)) };
    const { id, runId: proof } = await propose.sendAsync({ path: { routineId }, body }, { ifMatch });
    setTried({ id, form });
    await navigate({ search: { run: proof }, replace: true });
  };
  /** Shows another user's version, if the API refused the change because of that version. */
  const compareAfter = async (error: unknown, own: Pick<Conflict, 'base' | 'mine' | 'isTried'>) => {
    if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error;
    const { data, etag: newest } = await call(
      'get',
      '/v1/routines/{routineId}',
      { path: { routineId } },
      { projectId },
    );
    setConflict({ ...own, isTried: own.isTried && data.state === 'active', theirs: formOf(data), etag: newest });
  };
  const editor = useEditor({
    initial: formOf(routine),
    isSaved: true,
    onSave: async (form, base) => {
      try {
        return (await patch(form, base, etag)).id;
      } catch (error) {
        await compareAfter(error, { base, mine: form, isTried: false });
        return undefined;
      }
    },
    onSaved: () => undefined,
    onTest: async (_, mode) => {
      const started = await run.actAsync({ id: routineId, body: { mode } });
      await navigate({ search: { run: started.id }, replace: true });
    },
    onPropose:
      routine.state === 'active'
        ? (form, base) =>
            tryOut(form, base, etag).catch((error: unknown) => compareAfter(error, { base, mine: form, isTried: true }))
        : undefined,
  });
  const { proposal } = routine;
  const isTaken = tried !== null && proposal?.id === tried.id && proposal.state === 'taken';
  const takeOver = useEffectEvent(() => {
    if (tried === null) return;
    editor.rebase(tried.form, { keepValues: true });
    setEtag(first);
    setTried(null);
  });
  useEffect(() => {
    // oxlint-disable-next-line react/set-state-in-effect -- the service has taken the change over, and no event here
    if (isTaken) takeOver();
  }, [isTaken]);
  const resolve = async (merged: RoutineForm) => {
    if (conflict === null) return;
    try {
      const { theirs, isTried } = conflict;
      const isChanged = changedFields(theirs, merged).length > 0;
      if (isTried || !isChanged) setEtag(conflict.etag);
      if (isTried) {
        editor.rebase(theirs);
        editor.form.reset(merged);
      }
      if (isChanged) await (isTried ? tryOut : patch)(merged, theirs, conflict.etag);
      else await refresh(client, projectId, ['/v1/routines']);
      if (!isTried) editor.rebase(merged);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Show the error in the form, such as a refusal or that another user has saved again.
      editor.form.setError('root', { message: errorInWords(error) });
    }
    setConflict(null);
  };
  return (
    <>
      <Suspense>
        <ManagedNotice of={routine} />
        <ProposalNotice routine={routine} />
      </Suspense>
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
            isSaving={save.isSending || propose.isSending}
          />
        </Suspense>
      )}
      <WebhookSecret
        open={secret !== null}
        onClose={() => setSecret(null)}
        title="The webhook secret"
        description="Your receiver verifies each delivery with this secret. It cannot be shown again; you can replace it later."
        secret={secret ?? ''}
      />
    </>
  );
}
