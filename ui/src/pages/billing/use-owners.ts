import { useRead } from '#ui/api/read.ts';
import { useProjects } from '#ui/shell/projects.ts';

/** Says who can change the plan, for those who cannot; undefined for owners. */
export function useOwners(isOwner: boolean): string | undefined {
  const { organization } = useProjects();
  const members = useRead(
    '/v1/organizations/{organizationId}/members',
    { path: { organizationId: organization?.id ?? '' } },
    { enabled: organization !== undefined && !isOwner, staleMs: 60_000 },
  );
  if (isOwner) return undefined;
  const names = (members.data ?? []).filter(({ role }) => role === 'owner').map(({ name }) => name);
  if (names.length === 0) return 'Only owners can change the plan.';
  return `Only owners can change the plan: ${new Intl.ListFormat('en').format(names)}.`;
}
