import type { Shape } from '#ui/api/types.ts';
import { LOCALE } from '#ui/format/locale.ts';
import { shortCount } from '#ui/format/numbers.ts';
import { BarChart } from '#ui/parts/lazily.tsx';
import { Legend } from '#ui/parts/legend.tsx';
import { everyDay, useNames, type Split } from './choices.ts';

const OTHERS = 'others';

const shortDay = new Intl.DateTimeFormat(LOCALE, {
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

export interface DailyBarsProps {
  readonly usage: Shape<'ProjectUsage'>;
  readonly splitBy: Split;
}

/** Shows the tokens of each day, split into the models or routines that used most over the whole time. */
export function DailyBars({ usage, splitBy }: DailyBarsProps) {
  const nameOf = useNames(splitBy);
  const byDay = new Map(usage.groups.map((group) => [group.key, group.parts ?? []]));
  const series = seriesOf(usage).map((key) => ({
    key: key ?? OTHERS,
    label: nameOf(key),
  }));
  const data = everyDay(usage.from, usage.to).map((day) => ({
    key: day,
    label: shortDay.format(new Date(day)),
    parts: (byDay.get(day) ?? []).map(({ key, totalTokens }) => ({
      key: key ?? OTHERS,
      value: totalTokens,
    })),
  }));
  return (
    <div className="flex flex-col gap-2">
      <BarChart
        label={`Tokens a day from ${usage.from} to ${usage.to}; the table below has the numbers.`}
        data={data}
        series={series}
        format={shortCount}
      />
      <Legend series={series} />
    </div>
  );
}

/** Orders the keys by use; all others together come last. */
function seriesOf({ groups }: Shape<'ProjectUsage'>): (string | null)[] {
  const sums = new Map<string | null, number>();
  for (const { key, totalTokens } of groups.flatMap(({ parts = [] }) => parts)) {
    sums.set(key, (sums.get(key) ?? 0) + totalTokens);
  }
  const named = [...sums].filter(([key]) => key !== null).toSorted(([, a], [, b]) => b - a);
  return [...named.map(([key]) => key), ...(sums.has(null) ? [null] : [])];
}
