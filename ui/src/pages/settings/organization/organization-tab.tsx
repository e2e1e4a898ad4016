import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { count, money } from '#ui/format/numbers.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { KeyValue, Section } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Switch } from '#ui/parts/toggles.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { DeleteOrganization } from './delete-organization.tsx';
import { OrganizationForm } from './organization-form.tsx';

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
      <Notice className="mb-4 max-w-xl">Its owners and admins change these settings.</Notice>
      <KeyValue
        facts={[
          { label: 'Name', value: name },
          {
            label: 'Tokens a day',
            value: budget.maxTokensPerDay === null ? 'No limit' : count(budget.maxTokensPerDay),
          },
          {
            label: 'US dollars a month',
            value:
              budget.maxCostUsdPerMonth === null ? 'No limit' : money(budget.maxCostUsdPerMonth),
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
      requiresSecondFactor ? 'A second factor is demanded' : 'A second factor is up to each person',
  });
  return (
    <Section title="Sign-in">
      <Switch
        label="Demand a second factor from every member"
        description="Who has none is led to add one, and sees nothing of the organization before. You need one yourself. API keys go on."
        checked={organization.requiresSecondFactor}
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

/** Links to the plan for those who pay, also while nothing is offered. */
function PlanLine() {
  const projectId = useProjectId();
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  if (billing.data === undefined || billing.data.source === 'self_hosted') return null;
  const { plan, source } = billing.data;
  return (
    <Section title="Plan" boxed>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-base text-muted">
          The organization is on the <span className="font-medium text-ink capitalize">{plan}</span>{' '}
          plan.
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
