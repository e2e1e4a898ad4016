import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { drawn } from '#ui/format/drawn.ts';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';

/** Number of the latest runs whose notes are read. */
const LOOKED_AT = 50;
const SHOWN = 5;

/** Shows the opinions of readers about the last results, so that the author can change the instructions. */
export default function Opinions({ routineId }: { readonly routineId: string }) {
  const projectId = useProjectId();
  const runs = useRead('/v1/routines/{routineId}/runs', { path: { routineId }, query: { limit: LOOKED_AT } });
  const said = (runs.data ?? [])
    .flatMap(({ id, verdict }) => (verdict?.note == null ? [] : [{ id, ...verdict }]))
    .slice(0, SHOWN);
  if (said.length === 0) return null;
  return (
    <section aria-labelledby="opinions" className="rounded-lg border border-line bg-surface px-4 py-3">
      <h2 id="opinions" className="text-sm font-medium text-ink">
        What readers said about the results
      </h2>
      <ul className="mt-2 flex flex-col gap-2">
        {said.map(({ id, useful, note, by, at }) => (
          <li key={id} className="text-sm text-ink wrap-anywhere">
            <span className="text-muted">{useful ? 'Useful' : 'Not useful'}, because: </span>
            {drawn(note ?? '')}{' '}
            <TextLink to="/p/$projectId/runs/$runId" params={{ projectId, runId: id }}>
              {by?.name ?? 'The run'}, <Time at={at} as="relative" />
            </TextLink>
          </li>
        ))}
      </ul>
    </section>
  );
}
