import { OfOrganization, mayChange } from '../of-organization.tsx';
import { Invitations } from './invitations.tsx';
import { Members } from './members.tsx';

/** Lists the people of the organization, and those who are invited. */
export function MembersTab() {
  return (
    <OfOrganization>
      {(organization) => (
        <>
          <Members organization={organization} />
          {mayChange(organization) && <Invitations organization={organization} />}
        </>
      )}
    </OfOrganization>
  );
}
