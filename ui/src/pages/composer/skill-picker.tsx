import { Check, Plus } from 'lucide-react';
import { useState } from 'react';
import type { LoadedList } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { shortCount } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Dialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Input } from '#ui/parts/input.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { cx } from '#ui/parts/cx.ts';
import { SkillText } from './skill-preview.tsx';

type Skill = Shape<'SkillSummary'>;

export interface SkillPickerProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onNew: () => void;
  readonly catalogue: LoadedList<Skill>;
  readonly attached: readonly string[];
  readonly onAdd: (reference: string) => void;
}

/** Searches the catalogue, and shows the text of a skill before it is added. */
export default function SkillPicker({ open, onClose, onNew, catalogue, attached, onAdd }: SkillPickerProps) {
  const [search, setSearch] = useState('');
  const [shown, setShown] = useState<string | null>(null);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      size="lg"
      title="Add a skill"
      actions={
        <>
          <Button icon={Plus} onClick={onNew} className="mr-auto">
            New skill
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <Input
        type="search"
        aria-label="Search skills"
        placeholder="Search by name or purpose"
        value={search}
        onChange={({ target }) => setSearch(target.value)}
        className="mt-2 shrink-0"
      />
      <div className="grid min-h-0 gap-5 sm:grid-cols-2">
        <div className="max-h-96 overflow-y-auto max-sm:max-h-64">
          <Await of={catalogue} skeleton={<SkeletonRows rows={6} />}>
            {(skills) => (
              <SkillList
                skills={skills.filter((skill) => fits(skill, search))}
                shown={shown}
                attached={attached}
                onShow={setShown}
                onAdd={onAdd}
              />
            )}
          </Await>
        </div>
        <div
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has to take the focus
          tabIndex={0}
          role="region"
          aria-label="What the skill says"
          className="max-h-96 overflow-y-auto rounded-lg border border-line bg-sunken p-4 text-sm max-sm:max-h-56"
        >
          {shown === null ? (
            <p className="text-muted">Choose a skill to read its text for the model.</p>
          ) : (
            <SkillText reference={shown} />
          )}
        </div>
      </div>
    </Dialog>
  );
}

function SkillList({
  skills,
  shown,
  attached,
  onShow,
  onAdd,
}: {
  skills: readonly Skill[];
  shown: string | null;
  attached: readonly string[];
  onShow: (reference: string) => void;
  onAdd: (reference: string) => void;
}) {
  if (skills.length === 0) {
    return <p className="py-2 text-sm text-muted">No skill fits. Write a skill of your own.</p>;
  }
  return (
    <ul className="flex flex-col gap-px">
      {skills.map((skill) => {
        const reference = skill.id ?? skill.slug ?? '';
        const isAttached = [reference, ...skill.formerly].some((each) => attached.includes(each));
        return (
          <li
            key={reference}
            className={cx('flex items-start gap-2 rounded-md pr-1.5 hover:bg-hover', shown === reference && 'bg-hover')}
          >
            <button
              type="button"
              aria-pressed={shown === reference}
              onClick={() => onShow(reference)}
              className="ring-inside min-w-0 grow rounded-md px-2 py-1.5 text-left"
            >
              <span className="block truncate text-base text-ink">{skill.name}</span>
              <span className="block truncate text-xs text-muted">
                {skill.category === null ? 'Your own' : capitalized(skill.category.replaceAll(/[-_]/g, ' '))} ·{' '}
                {shortCount(skill.length)} characters
              </span>
            </button>
            <Button
              size="sm"
              kind="quiet"
              icon={isAttached ? Check : Plus}
              className="mt-1.5"
              aria-label={isAttached ? `${skill.name} is added` : `Add ${skill.name}`}
              disabledReason={isAttached ? 'This skill is already attached.' : undefined}
              onClick={() => onAdd(reference)}
            >
              {isAttached ? 'Added' : 'Add'}
            </Button>
          </li>
        );
      })}
    </ul>
  );
}

function fits({ name, description, category, slug }: Skill, search: string): boolean {
  const text = [name, description, category, slug].join(' ').toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
