import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { errorInWords, showFaults } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { count, exactMoney } from '#ui/format/numbers.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { KeyValue, Section } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Switch } from '#ui/parts/toggles.tsx';
import { BUDGET_NAMES, BudgetFields, budgetOf, budgetTexts } from '../budget-fields.tsx';
import { Danger } from '../danger.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';

/** Edits name and budget of the organization, shows its plan, and deletes it. */
export function OrganizationTab() {
  return (
    <OfOrganization>
      {(organization) => (
        <>
          {mayChange(organization) ? (
            <OrganizationForm organization={organization} />
          ) : (
            <Facts organization={organization} />
          )}
          {organization.role === 'owner' && <DemandFactor organization={organization} />}
          <PlanLine />
          {organization.role === 'owner' && <DeleteOrganization organization={organization} />}
        </>
      )}
    </OfOrganization>
  );
}

function Facts({ organization: { name, budget, createdAt } }: { organization: Organization }) {
  return (
    <Section title="Organization">
      <Notice className="mb-4 max-w-xl">Only owners and admins can change these settings.</Notice>
      <KeyValue
        facts={[
          { label: 'Name', value: name },
          {
            label: 'Tokens a day',
            value: budget.maxTokensPerDay === null ? 'No limit' : count(budget.maxTokensPerDay),
          },
          {
            label: 'US dollars a month',
            value: budget.maxCostUsdPerMonth === null ? 'No limit' : exactMoney(budget.maxCostUsdPerMonth),
          },
          { label: 'Created', value: <Time at={createdAt} /> },
        ]}
      />
    </Section>
  );
}

/** Lets an owner demand a second factor from everybody in the organization. */
function DemandFactor({ organization }: { readonly organization: Organization }) {
  const save = useSend('patch', '/v1/organizations/{organizationId}', {
    refreshes: ['/v1/organizations'],
    done: ({ requiresSecondFactor }) =>
      requiresSecondFactor ? 'A second factor is required' : 'Each person decides about a second factor',
  });
  return (
    <Section title="Sign-in">
      <Switch
        label="Require a second factor from every member"
        description="Members without a second factor have to add one before they see the organization. You need one yourself. API keys keep working."
        checked={save.sent?.body.requiresSecondFactor ?? organization.requiresSecondFactor}
        disabled={save.isSending}
        onChange={(requiresSecondFactor) =>
          save.send({
            path: { organizationId: organization.id },
            body: { requiresSecondFactor },
          })
        }
      />
    </Section>
  );
}

/** Links to the plan for organizations that pay, also while no plan is offered. */
function PlanLine() {
  const projectId = useProjectId();
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  if (billing.data === undefined || billing.data.source === 'self_hosted') return null;
  const { plan, source } = billing.data;
  return (
    <Section title="Plan" boxed>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-base text-muted">
          The organization is on the <span className="font-medium text-ink capitalize">{plan}</span> plan.
        </p>
        {source === 'subscription' && (
          <ButtonLink to="/p/$projectId/billing" params={{ projectId }}>
            Plan and payment
          </ButtonLink>
        )}
      </div>
    </Section>
  );
}

function OrganizationForm({ organization }: { readonly organization: Organization }) {
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
      description="The budget limits the spending of all runs in all projects together. Once the budget is used up, runs are skipped until the next day or month."
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

function DeleteOrganization({ organization }: { readonly organization: Organization }) {
  const [isAsking, setAsking] = useState(false);
  const { id, name } = organization;
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  const hasSubscription = billing.data?.source === 'subscription';
  const remove = useSend('delete', '/v1/organizations/{organizationId}', {
    showsError: true,
    // Loads a new document, so that nothing of the deleted organization stays in memory.
    onDone: () => location.assign('/'),
  });
  return (
    <Section title="Deletion">
      <Danger
        title="Delete the organization"
        action={
          <Button className="text-bad-ink!" onClick={() => setAsking(true)}>
            Delete organization
          </Button>
        }
      >
        This also deletes all projects, routines, connections and API keys. Pause the active routines
        {hasSubscription && ' and end the subscription'} first.
      </Danger>
      <ConfirmByNameDialog
        open={isAsking}
        onClose={() => {
          setAsking(false);
          remove.reset();
        }}
        title={`Delete ${name}?`}
        description="Everybody loses access at once, runs under way are cancelled, credentials are erased. This cannot be undone."
        action="Delete organization"
        name={name}
        busy={remove.isSending || remove.data !== undefined}
        error={errorInWords(remove.error)}
        onConfirm={() => remove.send({ path: { organizationId: id }, query: { confirm: name } })}
      />
    </Section>
  );
}
