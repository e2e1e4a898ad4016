import { Boxes, CalendarClock, Pencil, Sparkles, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useWatch, type UseFormReturn } from 'react-hook-form';
import { useRead } from '#ui/api/read.ts';
import { SkillNames } from '#ui/parts/names.tsx';
import { PARTS, type RoutineForm } from './form.ts';

interface Chip {
  readonly icon: LucideIcon;
  readonly label: string;
  readonly text: ReactNode;
  readonly part: (typeof PARTS)[keyof typeof PARTS];
}

/** Shows each part of the form as a chip of a few words, which leads to that part. */
export default function Chips({ form: { control } }: { readonly form: UseFormReturn<RoutineForm> }) {
  const [name, schedule, timezone, model, skills] = useWatch({
    control,
    name: ['name', 'schedule', 'timezone', 'model', 'skills'],
  });
  const isTimed = schedule !== '';
  const times = { query: { schedule, timezone } };
  const preview = useRead('/v1/schedules/preview', times, { keepPrevious: true, enabled: isTimed });
  const models = useRead('/v1/models', {}, { staleMs: 60_000 });
  const chosen = models.data?.find(({ modelId, connectionId }) => {
    return modelId === model?.modelId && connectionId === (model.connectionId ?? null);
  });
  const chips: readonly Chip[] = [
    { icon: Pencil, label: 'Name', text: name || 'No name yet', part: PARTS.what },
    {
      icon: CalendarClock,
      label: 'When',
      text: isTimed ? `${preview.data?.inWords ?? schedule}, ${timezone}` : 'No time yet',
      part: PARTS.schedule,
    },
    { icon: Boxes, label: 'Model', text: chosen?.name ?? model?.modelId ?? 'No model yet', part: PARTS.model },
    {
      icon: Sparkles,
      label: 'Skills',
      text: skills.length === 0 ? 'No skill' : <SkillNames ids={skills.map(String)} />,
      part: PARTS.skills,
    },
  ];
  return (
    <ul aria-label="What was understood" className="flex flex-wrap gap-2">
      {chips.map(({ icon: Icon, label, text, part }) => (
        <li key={label} className="min-w-0">
          <button
            type="button"
            onClick={() => lead(part)}
            className="flex h-8 max-w-full items-center gap-1.5 rounded-full border border-edge bg-surface px-3 text-sm text-ink hover:bg-hover pointer-coarse:h-10"
          >
            <Icon aria-hidden className="size-3.5 shrink-0 text-faint" strokeWidth={1.75} />
            <span className="sr-only">Change {label.toLowerCase()}: </span>
            <span className="truncate">{text}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Scrolls to a part of the form, and puts the cursor into its first field. */
function lead(part: string): void {
  const place = document.querySelector(`#${part}`);
  place?.scrollIntoView({ block: 'center' });
  place?.querySelector<HTMLElement>('input, textarea, [role=combobox], button')?.focus({ preventScroll: true });
}
