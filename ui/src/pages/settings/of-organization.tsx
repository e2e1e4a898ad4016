import type { ReactNode } from 'react';
import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';

export type Organization = Shape<'OrganizationDetail'>;

/** Shows content that depends on the organization of this project, once it is known. */
export function OfOrganization({ children }: { readonly children: (organization: Organization) => ReactNode }) {
  const project = useRead('/v1/projects/{projectId}', { path: { projectId: useProjectId() } });
  const organizationId = project.data?.organizationId;
  const organization = useRead(
    '/v1/organizations/{organizationId}',
    { path: { organizationId: organizationId ?? '' } },
    { enabled: organizationId !== undefined },
  );
  return (
    <Await of={organization} skeleton={<SkeletonRows rows={4} />} errorTitle="The organization could not be read">
      {children}
    </Await>
  );
}

/** Returns true for owners and admins. Members only see the settings. */
export function mayChange({ role }: Pick<Organization, 'role'>): boolean {
  return role !== 'member';
}
