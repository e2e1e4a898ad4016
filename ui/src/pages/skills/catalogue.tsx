import { Link } from '@tanstack/react-router';
import type { Shape } from '#ui/api/types.ts';
import { useProjectId } from '#ui/api/project.ts';
import { plural } from '#ui/format/numbers.ts';
import { Section } from '#ui/parts/page.tsx';
import { categoryTitle } from './words.ts';

type Summary = Shape<'SkillSummary'>;

/** Shows curated skills by category. */
export function Catalogue({ skills }: { readonly skills: readonly Summary[] }) {
  const groups = [...Map.groupBy(skills, ({ category }) => category ?? 'other')].toSorted(
    ([a], [b]) => a.localeCompare(b),
  );
  return groups.map(([category, group]) => (
    <Section
      key={category}
      title={
        <>
          {categoryTitle(category)}{' '}
          <span className="font-normal text-faint tabular">{group.length}</span>
        </>
      }
    >
      <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {group.map((skill) => (
          <Card key={skill.slug} skill={skill} />
        ))}
      </ul>
    </Section>
  ));
}

function Card({ skill }: { readonly skill: Summary }) {
  const projectId = useProjectId();
  return (
    <li className="relative flex flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-edge">
      <h3 className="text-base font-medium text-ink">
        <Link
          to="/p/$projectId/skills/$skillId"
          params={{ projectId, skillId: skill.slug ?? '' }}
          className="outline-none after:absolute after:inset-0 after:rounded-lg focus-visible:after:outline-2 focus-visible:after:outline-accent"
        >
          {skill.name}
        </Link>
      </h3>
      <p className="mt-1 line-clamp-3 text-sm text-muted">{skill.description}</p>
      <p className="mt-auto pt-3 text-xs text-faint">
        {skill.cadence === null ? '' : `Best ${skill.cadence} · `}
        {plural(skill.sourceCount, 'source')}
      </p>
    </li>
  );
}
