import { useEffect, useState } from 'react';
import { useFormContext } from 'react-hook-form';
import { useRead } from '#ui/api/read.ts';
import { sentence } from '#ui/api/form.ts';
import { VIEWER_ZONE } from '#ui/format/locale.ts';
import { duration } from '#ui/format/times.ts';
import { cx } from '#ui/parts/cx.ts';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Time } from '#ui/parts/time.tsx';
import type { RoutineForm } from './form.ts';

const SETTLE_MS = 300;

/** The next five times, as the server works them out, in the zone of the routine and in that of the reader. */
export function NextTimes({
  schedule,
  zone,
}: {
  readonly schedule: string;
  readonly zone: string;
}) {
  const { watch } = useFormContext<RoutineForm>();
  const [startsAt, endsAt, skipDates, jitterSeconds] = watch([
    'startsAt',
    'endsAt',
    'skipDates',
    'jitterSeconds',
  ]);
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was written above
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
  const { times } = preview.data;
  if (times.length === 0) {
    return <p className="text-sm text-warn-ink">No time is left up to its end.</p>;
  }
  const isElsewhere = zone !== VIEWER_ZONE;
  return (
    <div className={cx('transition-opacity', preview.isFetching && 'opacity-60')}>
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
      {preview.data.jitterSeconds > 0 && (
        <p className="mt-1 text-xs text-faint">
          Each starts up to {duration(preview.data.jitterSeconds * 1_000)} later.
        </p>
      )}
    </div>
  );
}

/** Returns the value once it has stood still for a moment, so that the server is not asked at every key. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
