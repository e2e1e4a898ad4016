import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
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
import { Composer, ComposerSkeleton } from './composer.tsx';
import { goodForMost, NEW_ROUTINE, type RoutineForm } from './form.ts';
import { Sentence } from './sentence.tsx';
import { useEditor } from './use-editor.ts';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/new');

/** Shows the form of a new routine, empty or with a skill. */
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
      <WithModel>
        {(blank) => (skill === undefined ? <NewRoutine initial={blank} /> : <WithSkill skill={skill} blank={blank} />)}
      </WithModel>
    </>
  );
}

/** Chooses the model of a new routine once the models are known. Without a choice, the person makes it in the form. */
function WithModel({ children }: { readonly children: (blank: RoutineForm) => ReactNode }) {
  const models = useRead('/v1/models', {}, { staleMs: 60_000 });
  // Keep the form: models are read again after a sign-in, when the form may be filled in already.
  const [blank, setBlank] = useState<RoutineForm>();
  if (blank !== undefined) return children(blank);
  if (models.data === undefined && models.error === null) return <ComposerSkeleton />;
  const found = goodForMost(models.data ?? []);
  const model = found === undefined ? null : { provider: found.provider, connectionId: null, modelId: found.modelId };
  setBlank({ ...NEW_ROUTINE, model });
  return null;
}

function WithSkill({ skill: skillId, blank }: { readonly skill: string; readonly blank: RoutineForm }) {
  const skill = useRead('/v1/skills/{skillId}', { path: { skillId } });
  return (
    <Await of={skill} skeleton={<ComposerSkeleton />} errorTitle="The skill could not be read">
      {({ name, suggestedSchedule }) => (
        <NewRoutine
          startsOpen
          initial={{ ...blank, name, skills: [skillId], schedule: suggestedSchedule ?? blank.schedule }}
        />
      )}
    </Await>
  );
}

interface NewRoutineProps {
  readonly initial: RoutineForm;
  /** True to show the whole form at once, and not only the field for a sentence. */
  readonly startsOpen?: boolean;
}

function NewRoutine({ initial, startsOpen = false }: NewRoutineProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(startsOpen);
  const [secret, setSecret] = useState<{ secret: string; go: () => void } | null>(null);
  const create = useSend('post', '/v1/routines', {
    refreshes: ['/v1/routines', '/v1/runs/recent'],
    done: 'Draft saved',
    showsError: true,
  });
  const run = useVerb(RUN_NOW, { showsError: true });
  const editor = useEditor({
    initial,
    isSaved: false,
    onSave: async ({ model, ...fields }) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server says what is missing, a model too
      const body = { ...fields, model } as Shape<'CreateRoutine'>;
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
      <Sentence form={editor.form} isOpen={isOpen} onOpen={() => setOpen(true)} />
      {isOpen && (
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
      )}
      <WebhookSecret
        open={secret !== null}
        onClose={() => secret?.go()}
        title="The webhook secret"
        description="Your receiver verifies each delivery with this secret. It cannot be shown again; you can replace it later."
        secret={secret?.secret ?? ''}
      />
    </>
  );
}
