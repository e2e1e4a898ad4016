import { useDeferredValue } from 'react';
import { useFormContext } from 'react-hook-form';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { cronOf, DEFAULT_PRESET, presetOf, type Preset } from '#ui/format/schedule.ts';
import { Combobox } from '#ui/parts/combobox.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Schedule } from '#ui/parts/schedule.tsx';
import { Select } from '#ui/parts/select.tsx';
import { useState } from 'react';
import type { RoutineForm } from './form.ts';
import { NextTimes } from './next-times.tsx';
import { DayOfMonth, Minute, TimeOfDay, Weekdays } from './preset-fields.tsx';

const KINDS = [
  { value: 'minutes', label: 'Every few minutes' },
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'On weekdays' },
  { value: 'monthly', label: 'Every month' },
  { value: 'cron', label: 'Cron' },
] as const;

const STEPS = ['1', '5', '10', '15', '20', '30'] as const;

const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')].toSorted();

/** Says when it runs, in words or as cron, and shows the next times that the server works out. */
export default function ScheduleField() {
  const { watch, setValue, register, formState } = useFormContext<RoutineForm>();
  const cron = watch('schedule');
  const zone = watch('timezone');
  const preset = presetOf(cron);
  const [asCron, setAsCron] = useState(preset === undefined);
  const shown = asCron ? undefined : preset;
  const change = (over: Partial<Preset>) =>
    setValue('schedule', cronOf({ ...DEFAULT_PRESET, ...preset, ...over }), { shouldDirty: true });
  const { errors } = formState;
  const settled = useDeferredValue({ cron, zone });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-x-3 gap-y-4">
        <Field label="Runs" className="w-44 max-sm:w-full">
          <Select
            options={KINDS}
            value={shown?.kind ?? 'cron'}
            onChange={(kind) => {
              setAsCron(kind === 'cron');
              if (kind !== 'cron') change({ kind });
            }}
          />
        </Field>
        {shown === undefined && (
          <Field label="Cron" className="w-48 max-sm:w-full">
            <Input className="font-mono" spellCheck={false} {...register('schedule')} />
          </Field>
        )}
        {shown?.kind === 'minutes' && (
          <Field label="Minutes between" className="w-32">
            <Select
              options={STEPS.map((value) => ({ value, label: value }))}
              value={STEPS.find((step) => step === String(shown.every)) ?? null}
              placeholder={String(shown.every)}
              onChange={(every) => change({ every: Number(every) })}
            />
          </Field>
        )}
        {shown?.kind === 'hourly' && <Minute preset={shown} onChange={change} />}
        {shown?.kind === 'weekly' && <Weekdays preset={shown} onChange={change} />}
        {shown?.kind === 'monthly' && <DayOfMonth preset={shown} onChange={change} />}
        {(shown?.kind === 'daily' || shown?.kind === 'weekly' || shown?.kind === 'monthly') && (
          <TimeOfDay preset={shown} onChange={change} />
        )}
        <Field
          label={labelOf('timezone')}
          className="w-56 max-sm:w-full"
          error={errors.timezone?.message}
        >
          <Combobox
            items={ZONES}
            value={zone}
            onChange={(next) => setValue('timezone', next, { shouldDirty: true })}
            keyOf={(each) => each}
            labelOf={(each) => (each === VIEWER_ZONE ? `${each} (yours)` : each)}
            empty="No zone has this name."
          />
        </Field>
      </div>
      {errors.schedule?.message !== undefined && (
        <p role="alert" className="text-sm text-bad-ink">
          {errors.schedule.message}
        </p>
      )}
      <p className="-mt-1 text-sm text-muted">
        <Schedule cron={cron} />
        <code className="ml-2 text-xs text-faint">{cron}</code>
      </p>
      <NextTimes schedule={settled.cron} zone={settled.zone} />
    </div>
  );
}
