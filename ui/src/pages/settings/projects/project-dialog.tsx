import { useForm } from 'react-hook-form';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { BUDGET_NAMES, BudgetFields, budgetOf, budgetTexts, numberOf } from '../budget-fields.tsx';

type Project = Shape<'Project'>;
type ProjectDetail = Shape<'ProjectDetail'>;

export interface ProjectDialogProps {
  readonly project: Project;
  readonly onClose: () => void;
}

/** Edits name, budget and retention of a project. */
export function ProjectDialog({ project, onClose }: ProjectDialogProps) {
  const detail = useRead('/v1/projects/{projectId}', { path: { projectId: project.id } });
  const form = useForm({
    values: textsOf(detail.data ?? project),
    resetOptions: { keepDirtyValues: true },
  });
  const { errors, dirtyFields, isDirty } = form.formState;
  const save = useSend('patch', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: 'Project saved',
    showsError: true,
  });
  const submit = async (values: ReturnType<typeof textsOf>) => {
    const { maxTokensPerDay, maxCostUsdPerMonth } = budgetOf(values);
    await save.sendAsync({
      path: { projectId: project.id },
      body: {
        ...(dirtyFields.name && { name: values.name }),
        ...(dirtyFields.runContentDays && { runContentDays: numberOf(values.runContentDays) }),
        ...(dirtyFields.runDays && { runDays: numberOf(values.runDays) }),
        budget: {
          ...(dirtyFields.tokens && { maxTokensPerDay }),
          ...(dirtyFields.cost && { maxCostUsdPerMonth }),
        },
      },
    });
    onClose();
  };
  return (
    <FormDialog
      onClose={onClose}
      size="md"
      title={`Settings of ${project.name}`}
      description="The budget limits the spending of all runs of the project together."
      form={form}
      onSubmit={submit}
      action="Save"
      disabledReason={isDirty ? undefined : 'Nothing has changed.'}
      names={BUDGET_NAMES}
    >
      <Await of={detail} skeleton={<SkeletonText lines={6} />}>
        {() => (
          <>
            <Field label="Name" error={errors.name?.message}>
              <Input {...form.register('name')} autoComplete="off" />
            </Field>
            <BudgetFields register={form.register} errors={errors} />
            <div className="grid gap-4 sm:grid-cols-2">
              <Field label="Days until the content of runs is erased" error={errors.runContentDays?.message}>
                <Input {...form.register('runContentDays')} inputMode="numeric" />
              </Field>
              <Field label="Days until runs are deleted" error={errors.runDays?.message}>
                <Input {...form.register('runDays')} inputMode="numeric" />
              </Field>
            </div>
            <p className="text-sm text-muted">
              Leave a field empty to keep everything for as long as the service does. A shorter time also deletes older
              runs, for good. Totals of usage stay.
            </p>
          </>
        )}
      </Await>
    </FormDialog>
  );
}

function textsOf(project: Project & Partial<ProjectDetail>) {
  return {
    name: project.name,
    ...budgetTexts(project.budget),
    runContentDays: project.runContentDays?.toString() ?? '',
    runDays: project.runDays?.toString() ?? '',
  };
}
