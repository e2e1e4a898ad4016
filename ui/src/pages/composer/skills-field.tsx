import { ArrowDown, ArrowUp, Eye, Plus, X } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { useAll } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import type { RoutineForm } from './form.ts';

const NewSkill = lazy(() => import('./new-skill.tsx'));
const SkillPicker = lazy(() => import('./skill-picker.tsx'));
const SkillPreview = lazy(() => import('./skill-preview.tsx'));

/** Returns the reference by which a routine names a skill. */
function referenceOf({ id, slug }: Pick<Shape<'SkillSummary'>, 'id' | 'slug'>): string {
  return id ?? slug ?? '';
}

/** Attaches skills, in the order in which a run reads them. */
export default function SkillsField() {
  const { setValue, formState } = useFormContext<RoutineForm>();
  const [open, setOpen] = useState<'picker' | 'new' | null>(null);
  const [previewed, setPreviewed] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const catalogue = useAll('/v1/skills', { query: { limit: 200 } });
  const attached = useWatch<RoutineForm, 'skills'>({ name: 'skills' });
  const change = (skills: readonly string[]) => setValue('skills', [...skills], { shouldDirty: true });
  const nameOf = (reference: string) =>
    catalogue.data?.find((skill) => referenceOf(skill) === reference || skill.formerly.includes(reference))?.name ??
    reference;
  const move = (from: number, to: number) => {
    const reference = attached[from];
    if (reference === undefined || to < 0 || to >= attached.length) return;
    change(attached.with(from, attached[to] ?? '').with(to, reference));
    setSaid(`${nameOf(reference)} is now ${to + 1} of ${attached.length}`);
  };
  const error = formState.errors.skills?.message;
  return (
    <div role="group" aria-labelledby="skills-label" className="flex flex-col gap-2">
      <div className="flex items-end justify-between gap-3">
        <div>
          <p id="skills-label" className="text-sm font-medium text-ink">
            Skills
          </p>
          <p className="text-sm text-muted">Tested instructions that are added after yours, in this order.</p>
        </div>
        <Button size="sm" icon={Plus} onClick={() => setOpen('picker')}>
          Add skill
        </Button>
      </div>
      {attached.length > 0 && (
        <ol className="divide-y divide-line rounded-lg border border-line">
          {attached.map((reference, index) => (
            <li key={reference} className="flex h-10 items-center gap-1 pr-1 pl-3">
              <span className="w-5 shrink-0 text-xs text-faint tabular">{index + 1}</span>
              <span className="grow truncate text-base text-ink">{nameOf(reference)}</span>
              <IconButton
                size="sm"
                icon={Eye}
                label={`Read ${nameOf(reference)}`}
                onClick={() => setPreviewed(reference)}
              />
              <IconButton
                size="sm"
                icon={ArrowUp}
                label={`Move ${nameOf(reference)} up`}
                disabledReason={index === 0 ? 'This skill is already first.' : undefined}
                onClick={() => move(index, index - 1)}
              />
              <IconButton
                size="sm"
                icon={ArrowDown}
                label={`Move ${nameOf(reference)} down`}
                disabledReason={index === attached.length - 1 ? 'This skill is already last.' : undefined}
                onClick={() => move(index, index + 1)}
              />
              <IconButton
                size="sm"
                icon={X}
                label={`Remove ${nameOf(reference)}`}
                onClick={() => change(attached.filter((each) => each !== reference))}
              />
            </li>
          ))}
        </ol>
      )}
      <span role="status" className="sr-only">
        {said}
      </span>
      {error !== undefined && (
        <p role="alert" className="text-sm text-bad-ink">
          {error}
        </p>
      )}
      <Suspense>
        {open === 'picker' && (
          <SkillPicker
            open
            onClose={() => setOpen(null)}
            onNew={() => setOpen('new')}
            catalogue={catalogue}
            attached={attached}
            onAdd={(reference) => change([...attached, reference])}
          />
        )}
        {open === 'new' && (
          <NewSkill open onClose={() => setOpen(null)} onCreated={(reference) => change([...attached, reference])} />
        )}
        {previewed !== null && <SkillPreview reference={previewed} onClose={() => setPreviewed(null)} />}
      </Suspense>
    </div>
  );
}
