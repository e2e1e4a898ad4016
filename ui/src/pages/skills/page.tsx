import { getRouteApi } from '@tanstack/react-router';
import { Plus, Search } from 'lucide-react';
import { useState } from 'react';
import { useAll } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Catalogue } from './catalogue.tsx';
import { NewSkillDialog } from './new-skill.tsx';
import { OwnSkills } from './own-skills.tsx';
import { categoryTitle } from './words.ts';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/skills');

const ALL = 'all';

type Summary = Shape<'SkillSummary'>;

/** Shows the project's own skills and the catalogue that comes with the service. */
export function SkillsPage() {
  const { category, search } = useSearch();
  const skills = useAll('/v1/skills', { query: { limit: 200 } });
  const [isMaking, setMaking] = useState(false);
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setMaking(true)}>
      New skill
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Skills"
        description="Instructions that several routines share. Attach up to ten to a routine."
        actions={create}
      />
      <Await of={skills} skeleton={<Loading />} errorTitle="The skills could not be read">
        {(all) => {
          const found = all.filter((skill) => isFound(skill, { category, search }));
          const own = found.filter(({ id }) => id !== null);
          const curated = found.filter(({ id }) => id === null);
          const isFiltered = category !== undefined || search !== undefined;
          return (
            <>
              <Filters categories={categoriesOf(all)} />
              {isFiltered && found.length === 0 && <NothingFound />}
              {(!isFiltered || own.length > 0) && (
                <Section title="Yours">
                  <OwnSkills skills={own} action={create} />
                </Section>
              )}
              <Catalogue skills={curated} />
              <Pager list={skills} />
            </>
          );
        }}
      </Await>
      <NewSkillDialog open={isMaking} onClose={() => setMaking(false)} />
    </>
  );
}

function Filters({ categories }: { readonly categories: readonly string[] }) {
  const { category, search } = useSearch();
  const navigate = useNavigate();
  return (
    <div className="mb-6 flex flex-wrap gap-2">
      <div className="relative w-full sm:w-72">
        <Search
          aria-hidden
          className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
        />
        <Input
          type="search"
          aria-label="Search skills"
          placeholder="Search skills"
          className="pl-8"
          value={search ?? ''}
          onChange={({ target }) => {
            const typed = target.value === '' ? {} : { search: target.value };
            void navigate({
              search: { ...(category === undefined ? {} : { category }), ...typed },
              replace: true,
            });
          }}
        />
      </div>
      <div className="w-full sm:w-48">
        <Select
          label="Category"
          options={[
            { value: ALL, label: 'All categories' },
            ...categories.map((each) => ({ value: each, label: categoryTitle(each) })),
          ]}
          value={category ?? ALL}
          onChange={(value) => {
            const chosen = value === ALL ? {} : { category: value };
            void navigate({ search: { ...(search === undefined ? {} : { search }), ...chosen } });
          }}
        />
      </div>
    </div>
  );
}

function NothingFound() {
  const navigate = useNavigate();
  return (
    <EmptyState
      title="No skill fits"
      action={<Button onClick={() => void navigate({ search: {} })}>Show all skills</Button>}
    >
      Try another word or category.
    </EmptyState>
  );
}

function isFound(
  { name, description, category: own }: Summary,
  { category, search }: { category?: string | undefined; search?: string | undefined },
): boolean {
  if (category !== undefined && own !== category) return false;
  const text = `${name} ${description ?? ''}`.toLowerCase();
  return (search ?? '')
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function categoriesOf(skills: readonly Summary[]): readonly string[] {
  const named = skills.flatMap(({ category }) => (category === null ? [] : [category]));
  return [...new Set(named)].toSorted();
}

function Loading() {
  return (
    <>
      <Skeleton className="mb-8 h-8 w-full sm:w-72" />
      <SkeletonRows rows={3} />
      <div className="mt-10 grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
        {Array.from({ length: 6 }, (_, index) => (
          <Skeleton key={index} className="h-32 rounded-lg" />
        ))}
      </div>
    </>
  );
}
