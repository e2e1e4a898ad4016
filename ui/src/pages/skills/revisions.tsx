import { useList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Fold } from '#ui/parts/fold.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { TextDiff } from '#ui/parts/text-diff.tsx';
import { Time } from '#ui/parts/time.tsx';

type Revision = Shape<'SkillRevision'>;

/** Says how many active routines run which older text of a skill. */
export function StillOlder({ skill }: { readonly skill: Shape<'SkillDetail'> }) {
  const older = skill.inUse.filter(({ revision }) => revision !== skill.revision);
  if (older.length === 0) return null;
  return (
    <Notice className="mb-6">
      <span>
        {older
          .map(
            ({ revision, routines }) =>
              `${plural(routines, 'routine')} still ${routines === 1 ? 'runs' : 'run'} revision ${revision}.`,
          )
          .join(' ')}{' '}
        On the page of each: run it once, then use the new text.
      </span>
    </Notice>
  );
}

/** Lists the texts that a skill has had, each with what it changed. */
export function Revisions({ id }: { readonly id: string }) {
  const revisions = useList('/v1/skills/{skillId}/revisions', {
    path: { skillId: id },
    query: { limit: 20 },
  });
  return (
    <Section
      title="Revisions"
      description="Scheduled runs take the one that they were activated with."
    >
      <Await
        of={revisions}
        skeleton={<SkeletonRows rows={2} />}
        errorTitle="The revisions could not be read"
      >
        {(rows) => (
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {rows.map((row, index) => (
              <li key={row.revision}>
                <Fold summary={<Summary row={row} />}>
                  <TextDiff
                    label={`Revision ${row.revision}`}
                    before={textOf(rows[index + 1] ?? (revisions.hasMore ? row : undefined))}
                    after={textOf(row)}
                  />
                </Fold>
              </li>
            ))}
          </ul>
        )}
      </Await>
      <Pager list={revisions} />
    </Section>
  );
}

function Summary({ row }: { readonly row: Revision }) {
  const by = row.createdBy?.name;
  return (
    <span className="flex grow flex-wrap items-center gap-x-3 text-sm">
      <span className="font-medium text-ink">Revision {row.revision}</span>
      <span className="text-muted">
        {row.changed.length === 0 ? 'first on record' : row.changed.join(' and ')}
      </span>
      <span className="ml-auto text-xs text-faint">
        <Time at={row.createdAt} as="relative" />
        {by != null && <> by {by}</>}
      </span>
    </span>
  );
}

/** Returns a text as it is compared; before the first revision there is none. */
function textOf(row: Revision | undefined): string {
  return row === undefined ? '' : `${row.name}\n\n${row.instructions}`;
}
