import { getRouteApi } from '@tanstack/react-router';
import { ChartNoAxesColumn } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { useNow } from '#ui/format/now.ts';
import { count, money, moneyInWords, plural, share } from '#ui/format/numbers.ts';
import { date } from '#ui/format/times.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Meter } from '#ui/parts/meter.tsx';
import { KeyValue, PageHeader, Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DailyBars } from './daily-bars.tsx';
import { daysOf, spanOf, SPANS, splitOf, SPLITS } from './choices.ts';
import { UsageTable } from './usage-table.tsx';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/usage');

/** Shows the usage of the project: the allowances of the plan, a chart by day, and a table with the same numbers. */
export function UsagePage() {
  const search = useSearch();
  const navigate = useNavigate();
  const span = spanOf(search.days);
  const splitBy = splitOf(search.by);
  const days = daysOf(span);
  const usage = useRead(
    '/v1/usage',
    { query: { ...days, groupBy: 'day', splitBy } },
    { everyMs: 60_000, keepPrevious: true },
  );
  return (
    <>
      <PageHeader
        title="Usage"
        actions={
          <>
            <Select
              compact
              label="The days in detail"
              options={SPLITS}
              value={splitBy}
              onChange={(by) => void navigate({ search: (now) => ({ ...now, by }) })}
            />
            <Select
              compact
              label="Time"
              options={SPANS}
              value={span}
              onChange={(next) => void navigate({ search: (now) => ({ ...now, days: next }) })}
            />
          </>
        }
      />
      <Allowances />
      <Section title="Tokens a day" description="Of this project, by calendar day (UTC).">
        <Await
          of={usage}
          skeleton={
            <>
              <Skeleton className="h-44" />
              <SkeletonRows rows={3} />
            </>
          }
          errorTitle="The usage could not be read"
        >
          {(data) =>
            data.total.steps === 0 ? (
              <EmptyState icon={ChartNoAxesColumn} title="No usage in this time">
                Usage appears here with the first step of a run.
              </EmptyState>
            ) : (
              <div className="flex flex-col gap-6">
                <KeyValue
                  inline
                  facts={[
                    { label: 'Tokens', value: count(data.total.totalTokens) },
                    { label: 'Cost', value: money(data.total.costUsd) },
                    { label: 'Model steps', value: count(data.total.steps) },
                    ...(data.rehearsals.steps === 0
                      ? []
                      : [
                          {
                            label: 'Of that, rehearsals',
                            value: `${count(data.rehearsals.totalTokens)} tokens, ${moneyInWords(data.rehearsals.costUsd)}`,
                          },
                        ]),
                  ]}
                />
                <DailyBars usage={data} splitBy={splitBy} />
                <UsageTable days={days} splitBy={splitBy} total={data.total.totalTokens} />
              </div>
            )
          }
        </Await>
      </Section>
    </>
  );
}

const DAY_MS = 86_400_000;

/** Shows the allowances of the organization's plan in this period, their use, and the pace. */
function Allowances() {
  const billing = useRead('/v1/billing', {}, { everyMs: 60_000 });
  return (
    <Section title="This period" description="How much of the plan all projects of the organization use together.">
      <Await of={billing} skeleton={<Skeleton className="h-16" />} errorTitle="The allowances could not be read">
        {(data) => <Meters billing={data} />}
      </Await>
    </Section>
  );
}

function Meters({ billing }: { readonly billing: Shape<'Billing'> }) {
  const { allowances, period, usage } = billing;
  const now = useNow(60_000).getTime();
  const end = Date.parse(period.end);
  const start = Date.parse(period.start);
  const passed = Math.min(1, Math.max(0, (now - start) / (end - start)));
  const daysLeft = Math.max(0, Math.ceil((end - now) / DAY_MS));
  return (
    <div className="grid gap-x-10 gap-y-5 sm:grid-cols-2">
      <Meter
        label="Runs"
        value={usage.runs}
        max={allowances.runs}
        hint={`${plural(daysLeft, 'day')} left, until ${date(new Date(end), 'UTC')}. ${paceOf(usage.runs, allowances.runs, passed)}`}
      />
      <Meter
        label="Active routines"
        value={usage.activeRoutines}
        max={allowances.activeRoutines}
        hint={`${count(Math.max(0, allowances.activeRoutines - usage.activeRoutines))} more can be activated.`}
      />
    </div>
  );
}

/** Forecasts the use at this pace. The first day of a period is too early for that. */
function paceOf(used: number, allowed: number, passed: number): string {
  if (used === 0 || passed < 0.03) return '';
  const expected = used / passed;
  if (expected <= allowed) return `At this pace, ${count(Math.round(expected))} are used by the end.`;
  return `At this pace, all are used up when ${share(allowed / expected)} of the period has passed.`;
}
