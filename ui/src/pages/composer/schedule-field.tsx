import { useDeferredValue, useState } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { sentence } from '#ui/format/capitalized.ts';
import { useRead, useSettled } from '#ui/api/read.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { cronOf, DEFAULT_PRESET, presetOf, type Preset } from '#ui/format/schedule.ts';
import { duration } from '#ui/format/times.ts';
import { Combobox } from '#ui/parts/combobox.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Schedule } from '#ui/parts/schedule.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Time } from '#ui/parts/time.tsx';
import type { RoutineForm } from './form.ts';
import { TimeWords } from './time-words.tsx';
import { DayOfMonth, Minute, TimeOfDay, Weekdays } from './preset-fields.tsx';

const KINDS = [
  { value: 'minutes', label: 'Every few minutes' },
  { value: 'hourly', label: 'Every hour' },
  { value: 'daily', label: 'Every day' },
  { value: 'weekly', label: 'Every week' },
  { value: 'monthly', label: 'Every month' },
  { value: 'cron', label: 'By a cron pattern' },
] as const;

const STEPS = ['1', '5', '10', '15', '20', '30'] as const;

const ZONES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')].toSorted();

/** Edits the schedule, in words or as cron, and shows its next times as the server computes them. */
export default function ScheduleField() {
  const { setValue, register, formState } = useFormContext<RoutineForm>();
  const cron = useWatch<RoutineForm, 'schedule'>({ name: 'schedule' });
  const zone = useWatch<RoutineForm, 'timezone'>({ name: 'timezone' });
  const preset = presetOf(cron);
  const [asCron, setAsCron] = useState(preset === undefined);
  const shown = asCron ? undefined : preset;
  const change = (over: Partial<Preset>) =>
    setValue('schedule', cronOf({ ...DEFAULT_PRESET, ...preset, ...over }), { shouldDirty: true });
  const { errors } = formState;
  const settled = useDeferredValue({ cron, zone });
  return (
    <div className="flex flex-col gap-4">
      <TimeWords
        timezone={zone}
        onRead={(read) => {
          setAsCron(presetOf(read) === undefined);
          setValue('schedule', read, { shouldDirty: true });
        }}
      />
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
        <Field label={labelOf('timezone')} className="w-56 max-sm:w-full" error={errors.timezone?.message}>
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
          {cron === '' ? 'Choose when the routine runs.' : errors.schedule.message}
        </p>
      )}
      {cron !== '' && <NextTimes schedule={settled.cron || cron} zone={settled.zone} />}
    </div>
  );
}

/** Shows the schedule in words, and its next five times in both zones, as the server computes them. */
function NextTimes({ schedule, zone }: { readonly schedule: string; readonly zone: string }) {
  const [startsAt, endsAt, skipDates, jitterSeconds] = useWatch<
    RoutineForm,
    ['startsAt', 'endsAt', 'skipDates', 'jitterSeconds']
  >({ name: ['startsAt', 'endsAt', 'skipDates', 'jitterSeconds'] });
  const asked = useSettled(
    JSON.stringify({
      schedule,
      timezone: zone,
      ...(startsAt === null ? {} : { startsAt }),
      ...(endsAt === null ? {} : { endsAt }),
      ...(skipDates.length === 0 ? {} : { skipDates: skipDates.join(',') }),
      jitterSeconds: Number.isInteger(jitterSeconds) ? jitterSeconds : 0,
    }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the JSON was written above
  const query = JSON.parse(asked) as { schedule: string; timezone: string; jitterSeconds: number };
  const preview = useRead('/v1/schedules/preview', { query }, { keepPrevious: true });
  if (preview.error !== null) {
    const { faults, message, requestId } = preview.error;
    const [fault] = faults;
    return (
      <p role="status" className="text-sm text-bad-ink">
        {sentence(fault?.message ?? message)}
        {fault === undefined && requestId !== undefined && (
          <span className="block font-mono text-xs text-faint">Request {requestId}</span>
        )}
      </p>
    );
  }
  if (preview.data === undefined) return <SkeletonText lines={5} />;
  const { times, inWords, warnings } = preview.data;
  const isElsewhere = zone !== VIEWER_ZONE;
  return (
    <div className={cx('flex flex-col gap-3 transition-opacity', preview.isFetching && 'opacity-60')}>
      <p className="-mt-1 text-sm text-muted">
        <Schedule words={inWords} cron={schedule} />
        <code className="ml-2 text-xs text-faint">{query.schedule}</code>
      </p>
      {warnings.map(({ code, message }) => (
        <p key={code} role="status" className="text-sm text-warn-ink">
          {sentence(message)}
        </p>
      ))}
      {times.length > 0 && (
        <table className="text-sm">
          <caption className="sr-only">The next times</caption>
          <thead>
            <tr className="text-left text-xs text-faint">
              <th scope="col" className="pr-3 pb-1 font-medium wrap-anywhere sm:pr-8">
                Next times, {zone}
              </th>
              {isElsewhere && (
                <th scope="col" className="pb-1 font-medium wrap-anywhere">
                  For you, {VIEWER_ZONE}
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {times.map((at) => (
              <tr key={at} className="tabular">
                <td className="py-0.5 pr-3 whitespace-nowrap text-ink sm:pr-8">
                  <Time at={at} zone={zone} />
                </td>
                {isElsewhere && (
                  <td className="py-0.5 whitespace-nowrap text-muted">
                    <Time at={at} />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {preview.data.jitterSeconds > 0 && (
        <p className="text-xs text-faint">
          Each run starts up to {duration(preview.data.jitterSeconds * 1_000)} after the time shown.
        </p>
      )}
    </div>
  );
}
