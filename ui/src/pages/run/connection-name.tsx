import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { TextLink } from '#ui/parts/text-link.tsx';

/** Names a connection as it was called when the run used it, and leads to it while it is still there. */
export function ConnectionName({
  id,
  name,
}: {
  readonly id: string;
  readonly name: string | null;
}) {
  const projectId = useProjectId();
  const { data, error } = useRead(
    '/v1/connections/{connectionId}',
    { path: { connectionId: id } },
    { staleMs: 60_000 },
  );
  if (data !== undefined) {
    const params = { projectId, connectionId: id };
    return (
      <TextLink to="/p/$projectId/connections/$connectionId" params={params}>
        {name ?? data.name}
      </TextLink>
    );
  }
  const known = name ?? 'a connection';
  return error?.code === 'connection_not_found' ? `${known}, deleted since` : known;
}
