import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { WebhookSecret } from '#ui/parts/lazily.tsx';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Skeleton, SkeletonText } from '#ui/parts/skeleton.tsx';
import { Composer } from './composer.tsx';
import { NEW_ROUTINE, type RoutineForm } from './form.ts';
import { Sentence } from './sentence.tsx';
import { useEditor } from './use-editor.ts';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/new');

/** Writes a new routine, from nothing or around a skill. */
export function NewRoutinePage() {
  const projectId = useProjectId();
  const { skill } = useSearch();
  return (
    <>
      <PageHeader
        title="New routine"
        actions={
          <ButtonLink to="/p/$projectId/start" params={{ projectId }}>
            Templates
          </ButtonLink>
        }
        back={{
          label: 'Routines',
          link: { to: '/p/$projectId/routines', params: { projectId } },
        }}
      />
      {skill === undefined ? <NewRoutine initial={NEW_ROUTINE} /> : <WithSkill skill={skill} />}
    </>
  );
}

function WithSkill({ skill: skillId }: { skill: string }) {
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId } });
  return (
    <Await of={skill} skeleton={<ComposerSkeleton />} errorTitle="The skill could not be read">
      {({ name, suggestedSchedule }) => (
        <NewRoutine
          initial={{
            ...NEW_ROUTINE,
            name,
            skills: [skillId],
            schedule: suggestedSchedule ?? NEW_ROUTINE.schedule,
          }}
        />
      )}
    </Await>
  );
}

function NewRoutine({ initial }: { initial: RoutineForm }) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<{ secret: string; go: () => void } | null>(null);
  const create = useSend('post', '/v1/routines', {
    refreshes: ['/v1/routines', '/v1/runs/recent'],
    done: 'Draft saved',
    showsError: true,
  });
  const models = useRead('/v1/models', {}, { staleMs: 60_000 });
  const run = useVerb(RUN_NOW, { showsError: true });
  const editor = useEditor({
    initial,
    isSaved: false,
    onSave: async ({ model, ...fields }) => {
      // The form shows the first model until another is chosen.
      const chosen = model ?? referenceTo(models.data?.[0]);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server says what is missing, a model too
      const body = { ...fields, model: chosen } as Shape<'CreateRoutine'>;
      const made = await create.sendAsync({ body });
      const { webhookSecret: shown } = made;
      if (shown != null) {
        await new Promise<void>((go) => setSecret({ secret: shown, go }));
        setSecret(null);
      }
      return made.id;
    },
    onSaved: (routineId) =>
      void navigate({ to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } }),
    onTest: async (routineId) => {
      if (routineId === undefined) return;
      const started = await run.actAsync({ id: routineId });
      await navigate({
        to: '/p/$projectId/routines/$routineId/edit',
        params: { projectId, routineId },
        search: { run: started.id },
        replace: true,
      });
    },
  });
  return (
    <>
      <Sentence form={editor.form} />
      <Composer
        editor={editor}
        routine={undefined}
        runId={undefined}
        cancel={
          <ButtonLink to="/p/$projectId/routines" params={{ projectId }}>
            Cancel
          </ButtonLink>
        }
      />
      <WebhookSecret
        open={secret !== null}
        onClose={() => secret?.go()}
        title="The webhook secret"
        description="Your receiver verifies each delivery with it. It cannot be shown again; you can replace it later."
        secret={secret?.secret ?? ''}
      />
    </>
  );
}

function referenceTo(option: Shape<'ModelOption'> | undefined): Shape<'ModelReference'> | null {
  if (option === undefined) return null;
  const { provider, connectionId, modelId } = option;
  return { provider, connectionId, modelId };
}

/** Has the shape of the composer. */
export function ComposerSkeleton() {
  return (
    <div className="grid gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <div className="flex flex-col gap-6 rounded-lg border border-line bg-surface p-4">
        <Skeleton className="h-8" />
        <SkeletonText lines={8} />
        <Skeleton className="h-8" />
      </div>
      <Skeleton className="h-40 rounded-lg" />
    </div>
  );
}
