import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmByNameDialog } from '#ui/parts/dialog.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Danger } from '../danger.tsx';
import type { Organization } from '../of-organization.tsx';

export function DeleteOrganization({ organization }: { readonly organization: Organization }) {
  const [isAsking, setAsking] = useState(false);
  const { id, name } = organization;
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  const hasSubscription = billing.data?.source === 'subscription';
  const remove = useSend('delete', '/v1/organizations/{organizationId}', {
    showsError: true,
    // A new document: nothing of what is gone is left in memory.
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
        With all of its projects, routines, connections and API keys. Pause the active routines
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
