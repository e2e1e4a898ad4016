import { getRouteApi, Link } from '@tanstack/react-router';
import { Plus, Search } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useForm } from 'react-hook-form';
import { useProjectId } from '#ui/api/project.ts';
import { useAll } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { PageHeader, Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { OwnSkills } from './own-skills.tsx';
import { bodyOf, EMPTY_SKILL, SkillFields, type SkillValues } from './skill-form.tsx';
import { bestRun, categoryTitle } from './words.ts';

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
              {own.length > 0 && <Yours skills={own} action={create} />}
              <Catalogue skills={curated} isFiltered={isFiltered} />
              {own.length === 0 && !isFiltered && <Yours skills={own} action={create} />}
              <Pager list={skills} />
            </>
          );
        }}
      </Await>
      <NewSkillDialog open={isMaking} onClose={() => setMaking(false)} />
    </>
  );
}

function Yours(props: { readonly skills: readonly Summary[]; readonly action: ReactNode }) {
  return (
    <Section title="Yours">
      <OwnSkills {...props} />
    </Section>
  );
}

function Filters({ categories }: { readonly categories: readonly string[] }) {
  const { category, search } = useSearch();
  const navigate = useNavigate();
  return (
    <div className="mb-6 flex flex-wrap gap-2">
      <div className="relative w-full sm:w-72">
        <Search aria-hidden className="absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint" />
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

/** Number of skills shown of a category that is not chosen: one row of a wide window. */
const FIRST = 3;

/** Shows curated skills by category: all matches of a search, otherwise the first ones of each category. */
function Catalogue({ skills, isFiltered }: { readonly skills: readonly Summary[]; readonly isFiltered: boolean }) {
  const navigate = useNavigate();
  const groups = [...Map.groupBy(skills, ({ category }) => category ?? 'other')].toSorted(([a], [b]) =>
    a.localeCompare(b),
  );
  return groups.map(([category, group]) => (
    <Section
      key={category}
      title={
        <>
          {categoryTitle(category)} <span className="font-normal text-faint tabular">{group.length}</span>
        </>
      }
      actions={
        !isFiltered &&
        group.length > FIRST && (
          <Button size="sm" kind="quiet" onClick={() => void navigate({ search: { category } })}>
            Show all<span className="sr-only"> of {categoryTitle(category)}</span>
          </Button>
        )
      }
    >
      <ul className="grid gap-3 max-sm:gap-2 sm:grid-cols-2 xl:grid-cols-3">
        {group.slice(0, isFiltered ? undefined : FIRST).map((skill) => (
          <Card key={skill.slug} skill={skill} />
        ))}
      </ul>
    </Section>
  ));
}

function Card({ skill }: { readonly skill: Summary }) {
  const projectId = useProjectId();
  return (
    <li className="relative flex flex-col rounded-lg border border-line bg-surface p-4 transition-colors duration-100 hover:border-edge max-sm:px-3 max-sm:py-2.5">
      <h3 className="text-base font-medium text-ink">
        <Link
          to="/p/$projectId/skills/$skillId"
          params={{ projectId, skillId: skill.slug ?? '' }}
          className="outline-none after:absolute after:inset-0 after:rounded-lg focus-visible:after:outline-2 focus-visible:after:outline-accent"
        >
          {skill.name}
        </Link>
      </h3>
      <p className="mt-1 line-clamp-3 text-sm text-muted max-sm:mt-0 max-sm:line-clamp-1">{skill.description}</p>
      <p className="mt-auto pt-3 text-xs text-faint max-sm:hidden">
        {skill.cadence === null ? '' : `Best ${bestRun(skill)} · `}
        {plural(skill.sourceCount, 'source')}
      </p>
    </li>
  );
}

function NewSkillDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  const form = useForm({ defaultValues: EMPTY_SKILL });
  const create = useSend('post', '/v1/skills', {
    refreshes: ['/v1/skills'],
    done: 'Skill created',
    showsError: true,
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const submit = async (values: SkillValues) => {
    await create.sendAsync({ body: bodyOf(values) });
    close();
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      locked={form.formState.isDirty}
      size="lg"
      title="New skill"
      description="What your routines should know or always do: a house style, a product, a way of working."
      form={form}
      onSubmit={submit}
      action="Create skill"
    >
      <SkillFields form={form} rows={12} />
    </FormDialog>
  );
}
