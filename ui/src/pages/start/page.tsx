import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ArrowRight, Play } from 'lucide-react';
import { useForm, useWatch } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { DataOf, InputOf } from '#ui/api/types.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Box, KeyValue, PageHeader } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TEMPLATES, type Template } from './templates.ts';

const route = getRouteApi('/account/p/$projectId/start');

/** Offers templates, so that a first routine takes less than a minute. */
export function StartPage() {
  const { template: chosen } = route.useSearch();
  const template = TEMPLATES.find(({ id }) => id === chosen);
  return template === undefined ? <Choose /> : <FromTemplate key={template.id} template={template} />;
}

function Choose() {
  const projectId = useProjectId();
  return (
    <>
      <PageHeader
        title="Your first routine"
        description="Work that a model does again and again, on time. Choose one to see it run; everything can be changed afterwards."
        actions={
          <ButtonLink to="/p/$projectId/routines/new" params={{ projectId }}>
            Write your own
          </ButtonLink>
        }
      />
      <ul className="grid gap-3 sm:grid-cols-2">
        {TEMPLATES.map((template) => (
          <li key={template.id}>
            <TemplateCard template={template} projectId={projectId} />
          </li>
        ))}
      </ul>
    </>
  );
}

function TemplateCard({ template, projectId }: { template: Template; projectId: string }) {
  return (
    <Link
      to="/p/$projectId/start"
      params={{ projectId }}
      search={{ template: template.id }}
      className="group flex h-full flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-edge"
    >
      <span className="flex items-center justify-between text-base font-semibold text-ink">
        {template.name}
        <ArrowRight aria-hidden className="size-4 text-faint group-hover:text-ink" />
      </span>
      <span className="mt-1 grow text-base text-muted">{template.promise}</span>
      <span className="mt-3 text-sm text-faint">Runs {template.scheduleInWords}</span>
    </Link>
  );
}

/** Asks the template's questions, creates the routine and runs it once. */
function FromTemplate({ template }: { readonly template: Template }) {
  const projectId = useProjectId();
  const models = useRead('/v1/models', {});
  return (
    <>
      <PageHeader
        title={template.name}
        description={template.promise}
        back={{
          label: 'Your first routine',
          link: { to: '/p/$projectId/start', params: { projectId } },
        }}
      />
      <Await of={models} skeleton={<SkeletonText lines={6} />}>
        {(options) => {
          const model = options[0];
          return model === undefined ? (
            <EmptyState title="There is no model to run on">
              Connect a model account, or ask the operator of this service.
            </EmptyState>
          ) : (
            <Questions template={template} model={model} />
          );
        }}
      </Await>
    </>
  );
}

interface QuestionsProps {
  readonly template: Template;
  readonly model: DataOf<'/v1/models', 'get'>[number];
}

function Questions({ template, model }: QuestionsProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm<{ variables: Record<string, string> }>({
    defaultValues: {
      variables: Object.fromEntries(template.questions.map(({ name }) => [name, ''])),
    },
  });
  const create = useSend('post', '/v1/routines', { refreshes: ['/v1/routines'], showsError: true });
  const run = useVerb(RUN_NOW);
  const submit = form.handleSubmit(async ({ variables }) => {
    let routineId: string;
    try {
      const routine = await create.sendAsync({ body: routineOf(template, model, variables) });
      routineId = routine.id;
    } catch (error) {
      showFaults(form, error);
      return;
    }
    // Should it not start, its own page says so, with a button to try again.
    const started = await run.actAsync({ id: routineId }).catch(() => undefined);
    if (started === undefined) {
      await navigate({ to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } });
    } else {
      await navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: started.id } });
    }
  });
  const answers = useWatch({ control: form.control, name: 'variables' });
  const missing = template.questions.find(({ name }) => answers[name]?.trim() === '');
  return (
    <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[1fr_20rem]" noValidate>
      <div className="flex flex-col gap-4">
        {template.questions.map(({ name, label, placeholder }) => (
          <Field key={name} label={label}>
            <Input placeholder={placeholder} {...form.register(`variables.${name}`)} />
          </Field>
        ))}
        <FormError message={form.formState.errors.root?.message} />
        <div className="flex flex-wrap items-center gap-3">
          <Button
            kind="primary"
            icon={Play}
            type="submit"
            busy={form.formState.isSubmitting}
            disabledReason={missing === undefined ? undefined : `Answer "${missing.label}" first.`}
          >
            Create and run once
          </Button>
          <span className="text-sm text-muted">It runs by itself only after you activate it.</span>
        </div>
      </div>
      <Box>
        <KeyValue
          narrow
          facts={[
            { label: 'Schedule', value: `${template.scheduleInWords}, ${VIEWER_ZONE}` },
            { label: 'Model', value: model.modelId },
            { label: 'Skills', value: template.skills.join(', ') },
          ]}
        />
      </Box>
    </form>
  );
}

function routineOf(
  template: Template,
  model: QuestionsProps['model'],
  variables: Record<string, string>,
): InputOf<'/v1/routines', 'post'>['body'] {
  const { provider, connectionId, modelId } = model;
  return {
    name: template.name,
    instructions: template.instructions,
    variables,
    schedule: template.schedule,
    timezone: VIEWER_ZONE,
    model: { provider, connectionId, modelId },
    skills: [...template.skills],
  };
}
