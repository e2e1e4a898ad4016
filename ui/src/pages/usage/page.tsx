import { getRouteApi } from '@tanstack/react-router';
import { ChartNoAxesColumn } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { count, money } from '#ui/format/numbers.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { KeyValue, PageHeader, Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Skeleton, SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Allowances } from './allowances.tsx';
import { DailyBars } from './daily-bars.tsx';
import { daysOf, SPANS, spanOf } from './period.ts';
import { splitOf, SPLITS } from './split.ts';
import { UsageTable } from './usage-table.tsx';

const { useNavigate, useSearch } = getRouteApi('/account/p/$projectId/usage');

/** Shows what the project used: the allowances of the plan, days as bars, and the table of the same numbers. */
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
              label="What the days are made of"
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
              <EmptyState icon={ChartNoAxesColumn} title="Nothing used in this time">
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
