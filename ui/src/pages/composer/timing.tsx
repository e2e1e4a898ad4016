import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { date } from '#ui/format/times.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import type { RoutineForm } from './form.ts';
import { Group, Part } from './group.tsx';
import { FieldOf, messageAt, useMessageAt } from './value-field.tsx';

/**
 * Edits the schedule's window, the rules for late or overlapping runs, and what a run may decide about the schedule.
 */
export function Timing() {
  return (
    <Group title="When">
      <Part title="Days on which the routine runs">
        <div className="grid gap-5 sm:grid-cols-2">
          <LocalTime name="startsAt" />
          <LocalTime name="endsAt" />
        </div>
        <SkipDates />
      </Part>
      <Part title="Runs that are late or overlap">
        <FieldOf name="overlap" cards />
        <FieldOf name="misfire" cards />
        <div className="grid gap-5 sm:grid-cols-2">
          <FieldOf name="jitterSeconds" />
          <FieldOf name="limits.maxQueueSeconds" />
        </div>
      </Part>
      <Part title="What a run may decide">
        <FieldOf name="mayPutOffHours" />
        <FieldOf name="mayComplete" />
      </Part>
    </Group>
  );
}

function LocalTime({ name }: { name: 'startsAt' | 'endsAt' }) {
  const { setValue, getValues, formState } = useFormContext<RoutineForm>();
  const at = getValues(name);
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

function SkipDates() {
  const { setValue } = useFormContext<RoutineForm>();
  const dates = useWatch<RoutineForm, 'skipDates'>({ name: 'skipDates' });
  const error = useMessageAt('skipDates');
  const onChange = (next: readonly string[]) => setValue('skipDates', [...next], { shouldDirty: true });
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
      description="The routine does not run on these dates, in its own time zone."
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
