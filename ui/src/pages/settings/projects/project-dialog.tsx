import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useRead, useSend } from '#ui/api/hooks.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { BUDGET_NAMES, BudgetFields, budgetOf, budgetTexts, numberOf } from '../budget-fields.tsx';

type Project = Shape<'Project'>;
type ProjectDetail = Shape<'ProjectDetail'>;

export interface ProjectDialogProps {
  readonly project: Project;
  readonly onClose: () => void;
}

/** Name, budget and retention of a project. */
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
  const submit = form.handleSubmit(async (values) => {
    const { maxTokensPerDay, maxCostUsdPerMonth } = budgetOf(values);
    try {
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
    } catch (error) {
      showFaults(form, error, BUDGET_NAMES);
    }
  });
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Settings of ${project.name}`}
      description="The budget is what all runs of the project may spend together."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form="project"
            busy={save.isSending}
            disabledReason={isDirty ? undefined : 'Nothing has changed.'}
          >
            Save
          </Button>
        </>
      }
    >
      <Await of={detail} skeleton={<SkeletonText lines={6} />}>
        {() => (
          <form id="project" onSubmit={submit} className="flex flex-col gap-4">
            <Field label="Name" error={errors.name?.message}>
              <Input {...form.register('name')} autoComplete="off" />
            </Field>
            <BudgetFields register={form.register} errors={errors} />
            <div className="grid gap-4 sm:grid-cols-2">
              <Field
                label="Days until what runs said is erased"
                error={errors.runContentDays?.message}
              >
                <Input {...form.register('runContentDays')} inputMode="numeric" />
              </Field>
              <Field label="Days until runs are deleted" error={errors.runDays?.message}>
                <Input {...form.register('runDays')} inputMode="numeric" />
              </Field>
            </div>
            <p className="text-sm text-muted">
              Counted from the end of a run; empty for as long as the service keeps them. Fewer days
              hold for the runs that there are, and what they erase is gone for good. Totals of
              usage stay.
            </p>
            <FormError message={errors.root?.message} />
          </form>
        )}
      </Await>
    </Dialog>
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
