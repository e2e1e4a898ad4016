import { getRouteApi } from '@tanstack/react-router';
import { useRead } from '#ui/api/read.ts';
import { Select } from '#ui/parts/select.tsx';
import { ACTION_CHOICES } from './words.ts';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/settings');

const ALL = 'all';

/** Filters the changes that are shown; the choice is kept in the address. */
export function AuditFilters({ organizationId }: { readonly organizationId: string }) {
  const { action, project, person } = useSearch();
  const navigate = useNavigate();
  const members = useRead('/v1/organizations/{organizationId}/members', {
    path: { organizationId },
  });
  const projects = useRead('/v1/projects', { query: { organizationId, limit: 200 } });
  const set = (name: 'action' | 'project' | 'person') => (value: string) =>
    void navigate({ search: (now) => ({ ...now, [name]: value === ALL ? undefined : value }) });
  return (
    <div className="mb-3 flex flex-wrap gap-2">
      <Select
        compact
        label="Kind of change"
        options={[{ value: ALL, label: 'Every change' }, ...ACTION_CHOICES]}
        value={action ?? ALL}
        onChange={set('action')}
      />
      <Select
        compact
        label="Person"
        options={[
          { value: ALL, label: 'Everybody' },
          ...(members.data ?? []).map(({ userId, name, email }) => ({
            value: userId,
            label: name,
            hint: email,
          })),
        ]}
        value={person ?? ALL}
        onChange={set('person')}
      />
      <Select
        compact
        label="Project"
        options={[
          { value: ALL, label: 'All projects' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={project ?? ALL}
        onChange={set('project')}
      />
    </div>
  );
}
