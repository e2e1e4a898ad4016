import { Sparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import type { Shape } from '#ui/api/types.ts';
import { useProjectId } from '#ui/api/project.ts';
import { count } from '#ui/format/numbers.ts';
import { EmptyState } from '#ui/parts/feedback.tsx';
import { ManagedMark } from '#ui/parts/managed.tsx';
import { DataTable, RowLink, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';

type Summary = Shape<'SkillSummary'>;

/** Lists the skills that members of this project have written. */
export function OwnSkills({ skills, action }: { readonly skills: readonly Summary[]; readonly action: ReactNode }) {
  if (skills.length === 0) {
    return (
      <EmptyState icon={Sparkles} title="No skills of your own yet" action={action}>
        Write down once what several routines should know: your style, your product, your rules.
      </EmptyState>
    );
  }
  return <DataTable label="Your skills" columns={COLUMNS} rows={skills} keyOf={({ id, name }) => id ?? name} />;
}

const COLUMNS: readonly Column<Summary>[] = [
  { key: 'name', header: 'Name', width: 'w-64', cell: (skill) => <NameLink skill={skill} /> },
  {
    key: 'description',
    header: 'Description',
    bare: true,
    cell: ({ description }) =>
      description === null ? (
        <span className="text-faint">No description</span>
      ) : (
        <span className="block truncate max-sm:whitespace-normal" title={description}>
          {description}
        </span>
      ),
  },
  {
    key: 'length',
    header: 'Characters',
    align: 'right',
    width: 'w-28',
    cell: ({ length }) => count(length),
  },
  {
    key: 'updated',
    header: 'Changed',
    width: 'w-36',
    from: 'md',
    cell: ({ updatedAt }) => <Time at={updatedAt} as="relative" />,
  },
];

function NameLink({ skill }: { readonly skill: Summary }) {
  const projectId = useProjectId();
  return (
    <span className="flex min-w-0 items-center gap-2">
      <RowLink
        to="/p/$projectId/skills/$skillId"
        params={{ projectId, skillId: skill.id ?? '' }}
        className="truncate max-sm:whitespace-normal"
      >
        {skill.name}
      </RowLink>
      <ManagedMark of={skill} />
    </span>
  );
}
