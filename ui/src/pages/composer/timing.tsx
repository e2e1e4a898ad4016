import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { plural } from '#ui/format/numbers.ts';
import { date, duration } from '#ui/format/times.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { labelOf, MISFIRE } from '#ui/parts/routine-fields.ts';
import { RadioCards } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { Group } from './group.tsx';
import { messageAt, NumberField } from './value-field.tsx';

/** The window of the schedule, and what happens to runs that meet or are late. */
export function Timing() {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const [startsAt, endsAt, skipDates, jitter, overlap, misfire] = watch([
    'startsAt',
    'endsAt',
    'skipDates',
    'jitterSeconds',
    'overlap',
    'misfire',
  ]);
  const { errors } = formState;
  return (
    <Group
      title="When"
      summary={[
        startsAt !== null && `from ${date(new Date(startsAt))}`,
        endsAt !== null && `until ${date(new Date(endsAt))}`,
        skipDates.length > 0 && `${plural(skipDates.length, 'date')} left out`,
        jitter > 0 && `up to ${duration(jitter * 1_000)} later`,
        OVERLAP_SHORT[overlap],
        misfire === 'run_once' ? 'makes up a missed run' : 'leaves missed runs out',
      ]
        .filter(Boolean)
        .join(', ')}
    >
      <div className="grid gap-5 sm:grid-cols-2">
        <LocalTime name="startsAt" />
        <LocalTime name="endsAt" />
      </div>
      <SkipDates
        dates={skipDates}
        error={messageAt(errors, 'skipDates')}
        onChange={(next) => setValue('skipDates', [...next], { shouldDirty: true })}
      />
      <NumberField
        name="jitterSeconds"
        description="A run may start so much later than its time, so that many routines do not start at once."
        unit="seconds"
      />
      <div className="flex flex-col gap-2">
        <p className="text-sm font-medium text-ink">{labelOf('overlap')}</p>
        <RadioCards
          label={labelOf('overlap')}
          columns={2}
          value={overlap}
          onChange={(next) => setValue('overlap', next, { shouldDirty: true })}
          options={[
            { value: 'skip', label: 'Skip', description: 'The new one is left out.' },
            {
              value: 'queue',
              label: 'Wait',
              description: 'The new one starts when the last has ended.',
            },
            {
              value: 'cancel_previous',
              label: 'Replace',
              description: 'The last one is cancelled.',
            },
            { value: 'allow', label: 'Run both', description: 'Side by side.' },
          ]}
        />
      </div>
      <div className="flex flex-col gap-2">
        <p className="text-sm font-medium text-ink">{labelOf('misfire')}</p>
        <RadioCards
          label={labelOf('misfire')}
          columns={2}
          value={misfire}
          onChange={(next) => setValue('misfire', next, { shouldDirty: true })}
          options={[
            {
              value: 'run_once',
              label: MISFIRE.run_once,
              description: 'One run for all that were missed.',
            },
            { value: 'skip', label: MISFIRE.skip, description: 'The next one comes on time.' },
          ]}
        />
      </div>
      <NumberField
        name="limits.maxQueueSeconds"
        description="A run that has not begun by then is skipped."
        unit="seconds"
      />
    </Group>
  );
}

const OVERLAP_SHORT: Readonly<Record<RoutineForm['overlap'], string>> = {
  skip: 'one at a time',
  queue: 'one after the other',
  cancel_previous: 'the newest only',
  allow: 'side by side',
};

function LocalTime({ name }: { name: 'startsAt' | 'endsAt' }) {
  const { watch, setValue, formState } = useFormContext<RoutineForm>();
  const at = watch(name);
  return (
    <Field
      label={labelOf(name)}
      optional
      description={`In your time, ${VIEWER_ZONE}.`}
      error={messageAt(formState.errors, name)}
    >
      <Input
        type="datetime-local"
        defaultValue={at === null ? '' : localText(new Date(at))}
        onChange={({ target }) =>
          setValue(name, target.value === '' ? null : new Date(target.value).toISOString(), {
            shouldDirty: true,
          })
        }
      />
    </Field>
  );
}

/** Formats an instant as "2027-01-01T09:30", on the clock of the reader. */
function localText(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

function SkipDates({
  dates,
  error,
  onChange,
}: {
  dates: readonly string[];
  error: string | undefined;
  onChange: (dates: readonly string[]) => void;
}) {
  const [day, setDay] = useState('');
  const add = () => {
    if (day === '' || dates.includes(day)) return;
    onChange([...dates, day].toSorted());
    setDay('');
  };
  return (
    <Field
      label={labelOf('skipDates')}
      optional
      description="In the time zone of the routine. It does not run on them."
      error={error}
    >
      <div className="flex gap-2">
        <Input
          type="date"
          value={day}
          onChange={({ target }) => setDay(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
          className="max-w-44"
        />
        <Button icon={Plus} onClick={add}>
          Add
        </Button>
      </div>
      {dates.length > 0 && (
        <ul className="flex flex-wrap gap-1.5">
          {dates.map((each) => (
            <li
              key={each}
              className="flex h-7 items-center rounded-md border border-line bg-sunken pl-2 text-sm text-ink tabular"
            >
              {date(new Date(`${each}T12:00:00Z`), 'UTC')}
              <IconButton
                size="sm"
                icon={X}
                label={`Remove ${each}`}
                onClick={() => onChange(dates.filter((other) => other !== each))}
              />
            </li>
          ))}
        </ul>
      )}
    </Field>
  );
}
