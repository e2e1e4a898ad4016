import { getRouteApi } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { useList } from '#ui/api/read.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditTable } from './audit-table.tsx';
import { ACTION_CHOICES, type Action } from './words.ts';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

/** Lists who changed what in the organization, when and from where. */
export function AuditTab() {
  return (
    <OfOrganization>
      {(organization) =>
        mayChange(organization) ? (
          <Log organization={organization} />
        ) : (
          <EmptyState icon={ScrollText} title="For owners and admins">
            They see who changed what in {organization.name}. Ask one of them.
          </EmptyState>
        )
      }
    </OfOrganization>
  );
}

function Log({ organization }: { readonly organization: Organization }) {
  const { action, project, person } = useSearch();
  const navigate = useNavigate();
  const events = useList(
    '/v1/audit-events',
    {
      query: {
        organizationId: organization.id,
        ...(isAction(action) && { action }),
        ...(project !== undefined && { projectId: project }),
        ...(person !== undefined && { actorId: person }),
      },
    },
    { everyMs: 30_000, keepPrevious: true },
  );
  const isFiltered = action !== undefined || project !== undefined || person !== undefined;
  return (
    <Section
      title="Audit log"
      description="Who changed what, when and from where. Nothing in it can be altered."
    >
      <AuditFilters organizationId={organization.id} />
      <Await of={events} skeleton={<SkeletonRows />} errorTitle="The audit log could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              icon={ScrollText}
              title={isFiltered ? 'Nothing fits these filters' : 'Nothing has been changed yet'}
              action={
                isFiltered && (
                  <Button onClick={() => void navigate({ search: { tab: 'audit' } })}>
                    Clear the filters
                  </Button>
                )
              }
            />
          ) : (
            <>
              <AuditTable events={rows} organizationId={organization.id} />
              <Pager list={events} />
            </>
          )
        }
      </Await>
    </Section>
  );
}

function isAction(text: string | undefined): text is Action {
  return ACTION_CHOICES.some(({ value }) => value === text);
}
