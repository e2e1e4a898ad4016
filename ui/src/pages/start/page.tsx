import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { ArrowRight, Play } from 'lucide-react';
import { useId } from 'react';
import { useForm, useWatch, type UseFormRegisterReturn } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { DataOf, Shape } from '#ui/api/types.ts';
import { RUN_NOW } from '#ui/api/verbs/routines.ts';
import { useVerb } from '#ui/api/verbs/verb.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { needText } from '#ui/format/need-words.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Box, KeyValue, PageHeader, Section } from '#ui/parts/page.tsx';
import { SkillNames } from '#ui/parts/names.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { goodForMost } from '../composer/form.ts';

const route = getRouteApi('/account/p/$projectId/start');

type Blueprint = Shape<'Blueprint'>;

/** Offers blueprints, so that a routine takes less than a minute. */
export function StartPage() {
  const { template: chosen } = route.useSearch();
  const blueprints = useRead('/v1/blueprints', {});
  return (
    <Await of={blueprints} skeleton={<SkeletonText lines={6} />} errorTitle="The blueprints could not be read">
      {(all) => {
        const blueprint = all.find(({ id }) => id === chosen);
        return blueprint === undefined ? <Choose all={all} /> : <FromBlueprint key={chosen} blueprint={blueprint} />;
      }}
    </Await>
  );
}

function Choose({ all }: { readonly all: readonly Blueprint[] }) {
  const projectId = useProjectId();
  return (
    <>
      <PageHeader
        title="Begin with a template"
        description="A routine is work that a model does again and again, on a schedule. Choose a template to see a routine run. You can change everything afterwards."
        actions={
          <ButtonLink to="/p/$projectId/routines/new" params={{ projectId }}>
            Write your own
          </ButtonLink>
        }
      />
      {/* Small groups stand beside each other. */}
      <div className="grid gap-x-3 gap-y-8 xl:grid-cols-3">
        {[...Map.groupBy(all, ({ job }) => job)].map(([job, blueprints]) => (
          <Section key={job} title={job} className={cx('mt-0!', SPANS[Math.min(blueprints.length, 3)])}>
            <ul className={cx('grid gap-3 sm:grid-cols-2', COLUMNS[Math.min(blueprints.length, 3)])}>
              {blueprints.map((blueprint) => (
                <li key={blueprint.id}>
                  <BlueprintCard blueprint={blueprint} projectId={projectId} />
                </li>
              ))}
            </ul>
          </Section>
        ))}
      </div>
    </>
  );
}

const SPANS = ['', '', 'xl:col-span-2', 'xl:col-span-3'] as const;
const COLUMNS = ['', 'xl:grid-cols-1', '', 'xl:grid-cols-3'] as const;

function BlueprintCard({ blueprint, projectId }: { blueprint: Blueprint; projectId: string }) {
  const { id, name, promise, when, needs } = blueprint;
  const needed = needs.length === 0 ? '' : `, with a tool for ${needs.map(needText).join(' and ')}`;
  return (
    <Link
      to="/p/$projectId/start"
      params={{ projectId }}
      search={{ template: id }}
      className="group flex h-full flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-edge"
    >
      <span className="flex items-center justify-between text-base font-semibold text-ink">
        {name}
        <ArrowRight aria-hidden className="size-4 text-faint group-hover:text-ink" />
      </span>
      <span className="mt-1 grow text-base text-muted">{promise}</span>
      <span className="mt-3 text-sm text-faint">
        Runs {when}
        {needed}
      </span>
    </Link>
  );
}

/** Asks for the slots of a blueprint, creates the routine and runs it once. */
function FromBlueprint({ blueprint }: { readonly blueprint: Blueprint }) {
  const projectId = useProjectId();
  const models = useRead('/v1/models', {});
  return (
    <>
      <PageHeader
        title={blueprint.name}
        description={blueprint.promise}
        back={{
          label: 'Templates',
          link: { to: '/p/$projectId/start', params: { projectId } },
        }}
      />
      <Await of={models} skeleton={<SkeletonText lines={6} />}>
        {(options) => {
          const model = goodForMost(options) ?? options[0];
          return model === undefined ? (
            <EmptyState title="There is no model to run on">
              Connect a model account, or ask the operator of this service.
            </EmptyState>
          ) : (
            <Questions blueprint={blueprint} model={model} />
          );
        }}
      </Await>
    </>
  );
}

interface QuestionsProps {
  readonly blueprint: Blueprint;
  readonly model: DataOf<'/v1/models', 'get'>[number];
}

function Questions({ blueprint, model }: QuestionsProps) {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const form = useForm<{ values: Record<string, string> }>({
    defaultValues: {
      values: Object.fromEntries(blueprint.slots.map(({ name }) => [name, ''])),
    },
  });
  const create = useSend('post', '/v1/routines', { refreshes: ['/v1/routines'], showsError: true });
  const run = useVerb(RUN_NOW);
  const draft = useSend('post', '/v1/routines/draft', { showsError: true });
  const draftOf = async (values: Record<string, string>) => {
    const { definition } = await draft.sendAsync({ body: { blueprint: blueprint.id, values, timezone: VIEWER_ZONE } });
    const { provider, connectionId, modelId } = model;
    return {
      ...definition,
      schedule: definition.schedule ?? blueprint.schedule,
      model: definition.model ?? { provider, connectionId, modelId },
    };
  };
  const submit = form.handleSubmit(async ({ values }) => {
    let routineId: string;
    try {
      const routine = await create.sendAsync({ body: await draftOf(values) });
      routineId = routine.id;
    } catch (error) {
      showFaults(form, error);
      return;
    }
    // Go to the routine even if the run does not start: the page shows that, with a button to try again.
    const started = await run.actAsync({ id: routineId }).catch(() => undefined);
    if (started === undefined) {
      await navigate({ to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } });
    } else {
      await navigate({ to: '/p/$projectId/runs/$runId', params: { projectId, runId: started.id } });
    }
  });
  const answers = useWatch({ control: form.control, name: 'values' });
  const missing = blueprint.slots.find(({ name }) => answers[name]?.trim() === '');
  return (
    <form onSubmit={submit} className="grid gap-6 lg:grid-cols-[1fr_20rem]" noValidate>
      <div className="flex flex-col gap-4">
        {blueprint.slots.map((slot) => (
          <Field key={slot.name} label={slot.label} error={form.formState.errors.values?.[slot.name]?.message}>
            <SlotInput slot={slot} field={form.register(`values.${slot.name}`)} />
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
          <span className="text-sm text-muted">The routine runs by itself only after you activate it.</span>
        </div>
      </div>
      <Box className="self-start">
        <KeyValue
          narrow
          facts={[
            { label: 'Schedule', value: `${capitalized(blueprint.when)}, ${VIEWER_ZONE}` },
            { label: 'Model', value: model.modelId },
            { label: 'Skills', value: <SkillNames ids={blueprint.skills} /> },
          ]}
        />
      </Box>
    </form>
  );
}

/** Shows the control for the type of a slot. */
function SlotInput({ slot, field }: { readonly slot: Shape<'BlueprintSlot'>; readonly field: UseFormRegisterReturn }) {
  const { type, sample, choices, least, most } = slot;
  const list = useId();
  if (type === 'list') return <Textarea rows={3} placeholder={sample} {...field} />;
  if (type === 'number') return <Input type="number" min={least} max={most} placeholder={sample} {...field} />;
  if (type !== 'choice')
    return <Input inputMode={type === 'address' ? 'url' : 'text'} placeholder={sample} {...field} />;
  return (
    <>
      <Input placeholder={sample} list={list} {...field} />
      <datalist id={list}>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </datalist>
    </>
  );
}
