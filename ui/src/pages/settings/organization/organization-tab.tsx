import { count, money } from '#ui/format/numbers.ts';
import { Notice } from '#ui/parts/feedback.tsx';
import { KeyValue, Section } from '#ui/parts/page.tsx';
import { Time } from '#ui/parts/time.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { DeleteOrganization } from './delete-organization.tsx';
import { DemandFactor } from './demand-factor.tsx';
import { OrganizationForm } from './organization-form.tsx';
import { PlanLine } from './plan-line.tsx';

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
