import { inWeekOrder, WEEKDAYS, type Preset } from '#ui/format/schedule.ts';
import { cx } from '#ui/parts/cx.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';

export interface PresetFieldProps {
  readonly preset: Preset;
  readonly onChange: (over: Partial<Preset>) => void;
}

export function TimeOfDay({ preset: { hour, minute }, onChange }: PresetFieldProps) {
  return (
    <Field label="At" className="w-32">
      <Input
        type="time"
        value={`${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`}
        onChange={({ target }) => {
          const [hours = '', minutes = ''] = target.value.split(':');
          // Wait for a whole time: the value is empty while one of its parts is being typed.
          if (minutes !== '') onChange({ hour: Number(hours), minute: Number(minutes) });
        }}
      />
    </Field>
  );
}

export function Minute({ preset: { minute }, onChange }: PresetFieldProps) {
  return (
    <Field label="At minute" className="w-28">
      <WholeNumber value={minute} min={0} max={59} onChange={(next) => onChange({ minute: next })} />
    </Field>
  );
}

export function DayOfMonth({ preset: { day }, onChange }: PresetFieldProps) {
  return (
    <Field label="On day" className="w-28">
      <WholeNumber value={day} min={1} max={31} onChange={(next) => onChange({ day: next })} />
    </Field>
  );
}

function WholeNumber({
  value,
  min,
  max,
  onChange,
}: {
  value: number;
  min: number;
  max: number;
  onChange: (value: number) => void;
}) {
  return (
    <Input
      type="number"
      min={min}
      max={max}
      value={value}
      onChange={({ target }) => {
        const next = target.valueAsNumber;
        if (Number.isInteger(next) && next >= min && next <= max) onChange(next);
      }}
    />
  );
}

/** Shows the days as buttons, from Monday. At least one stays chosen. */
export function Weekdays({ preset: { weekdays }, onChange }: PresetFieldProps) {
  return (
    <div role="group" aria-label="Days" className="flex flex-col gap-1.5">
      <span aria-hidden className="text-sm font-medium text-ink">
        Days
      </span>
      <div className="flex">
        {inWeekOrder(WEEKDAYS.map((_, day) => day)).map((day) => {
          const isOn = weekdays.includes(day);
          return (
            <button
              key={day}
              type="button"
              aria-pressed={isOn}
              onClick={() => {
                const next = isOn ? weekdays.filter((each) => each !== day) : [...weekdays, day];
                if (next.length > 0) onChange({ weekdays: next });
              }}
              className={cx(
                'relative -ml-px h-8 w-9 border text-sm first:ml-0 first:rounded-l-md last:rounded-r-md focus-visible:z-20 pointer-coarse:h-10',
                isOn
                  ? 'z-10 border-accent bg-accent-soft font-medium text-accent-ink'
                  : 'border-edge bg-surface text-muted hover:bg-sunken',
              )}
            >
              <span aria-hidden>{WEEKDAYS[day]?.slice(0, 2)}</span>
              <span className="sr-only">{WEEKDAYS[day]}</span>
            </button>
          );
        })}
      </div>
    </div>
  );
}
