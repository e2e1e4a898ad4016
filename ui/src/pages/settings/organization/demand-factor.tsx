import { useSend } from '#ui/api/send.ts';
import { Section } from '#ui/parts/page.tsx';
import { Switch } from '#ui/parts/toggles.tsx';
import type { Organization } from '../of-organization.tsx';

/** Lets an owner demand a second factor from everybody in the organization. */
export function DemandFactor({ organization }: { readonly organization: Organization }) {
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
