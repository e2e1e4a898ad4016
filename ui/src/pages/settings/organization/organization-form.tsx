import { useForm } from 'react-hook-form';
import { showFaults } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { BUDGET_NAMES, BudgetFields, budgetOf, budgetTexts } from '../budget-fields.tsx';
import type { Organization } from '../of-organization.tsx';

export function OrganizationForm({ organization }: { readonly organization: Organization }) {
  const { id, name, budget } = organization;
  const form = useForm({
    values: { name, ...budgetTexts(budget) },
    resetOptions: { keepDirtyValues: true },
  });
  const { errors, isDirty, dirtyFields } = form.formState;
  const save = useSend('patch', '/v1/organizations/{organizationId}', {
    refreshes: ['/v1/organizations'],
    done: 'Settings saved',
    showsError: true,
  });
  const submit = form.handleSubmit(async (values) => {
    const { maxTokensPerDay, maxCostUsdPerMonth } = budgetOf(values);
    try {
      const saved = await save.sendAsync({
        path: { organizationId: id },
        body: {
          ...(dirtyFields.name && { name: values.name }),
          budget: {
            ...(dirtyFields.tokens && { maxTokensPerDay }),
            ...(dirtyFields.cost && { maxCostUsdPerMonth }),
          },
        },
      });
      form.reset({ name: saved.name, ...budgetTexts(saved.budget) });
    } catch (error) {
      showFaults(form, error, BUDGET_NAMES);
    }
  });
  return (
    <Section
      title="Organization"
      description="The budget is what the runs of all its projects may spend together. Once it is used up, runs are skipped until the next day or month."
    >
      <form onSubmit={submit} className="flex max-w-xl flex-col gap-4">
        <Field label="Name" error={errors.name?.message}>
          <Input {...form.register('name')} autoComplete="off" />
        </Field>
        <BudgetFields register={form.register} errors={errors} />
        <FormError message={errors.root?.message} />
        <div>
          <Button
            kind="primary"
            type="submit"
            busy={save.isSending}
            disabledReason={isDirty ? undefined : 'Nothing has changed.'}
          >
            Save
          </Button>
        </div>
      </form>
    </Section>
  );
}
