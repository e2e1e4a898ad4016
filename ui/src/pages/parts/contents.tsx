import { Play } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '#ui/parts/button.tsx';
import { BarChart } from '#ui/parts/chart.tsx';
import { CodeBlock, CopyField } from '#ui/parts/copy.tsx';
import { Box, KeyValue, Section } from '#ui/parts/page.tsx';
import { RichText } from '#ui/parts/rich-text.tsx';
import { SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable } from '#ui/parts/table.tsx';
import { Tabs } from '#ui/parts/tabs.tsx';
import { Ticks } from '#ui/parts/ticks.tsx';
import { Time } from '#ui/parts/time.tsx';
import { DAYS, MARKDOWN, ROUTINES, RUNS, STATES } from './samples.ts';

/** Shows states, ticks and times. */
export function States() {
  return (
    <Section title="States" boxed>
      <div className="flex flex-wrap items-center gap-2">
        {STATES.map((state) => (
          <StateBadge key={state} state={state} />
        ))}
      </div>
      <div className="mt-4 flex flex-wrap items-center gap-6">
        <Ticks runs={RUNS} />
        <Ticks runs={RUNS.slice(0, 3)} />
        <Ticks runs={[]} />
        <Time at={RUNS[0]?.at ?? null} />
        <Time at={RUNS[0]?.at ?? null} as="relative" />
        <Time at={null} />
      </div>
    </Section>
  );
}

/** Shows a table of routines, and one that loads. */
export function Tables() {
  return (
    <Section title="Table">
      <DataTable
        label="Routines"
        rows={ROUTINES}
        keyOf={({ id }) => id}
        isDim={({ state }) => state === 'archived'}
        columns={[
          {
            key: 'name',
            header: 'Name',
            cell: ({ name }) => <span className="font-medium">{name}</span>,
          },
          {
            key: 'next',
            header: 'Next run',
            width: 'w-44',
            cell: ({ next }) => <Time at={next} />,
          },
          {
            key: 'runs',
            header: 'Last runs',
            width: 'w-28',
            from: 'md',
            cell: ({ runs }) => <Ticks runs={runs} />,
          },
          {
            key: 'cost',
            header: 'Spend',
            width: 'w-20',
            align: 'right',
            cell: ({ cost }) => cost,
          },
          {
            key: 'state',
            header: 'State',
            width: 'w-28',
            bare: true,
            cell: ({ state }) => <StateBadge state={state} />,
          },
        ]}
        actions={() => <IconButton icon={Play} label="Run now" size="sm" />}
      />
      <div className="mt-6">
        <SkeletonRows rows={3} />
      </div>
    </Section>
  );
}

/** Shows texts of a run in tabs, facts, and values to copy. */
export function Texts() {
  const [tab, setTab] = useState<'result' | 'raw' | 'loading'>('result');
  return (
    <Section title="Texts">
      <div className="grid gap-6 lg:grid-cols-2">
        <Box>
          <Tabs
            label="Result"
            value={tab}
            onChange={setTab}
            tabs={[
              { value: 'result', label: 'Result', panel: <RichText text={MARKDOWN} /> },
              {
                value: 'raw',
                label: 'Raw',
                panel: <CodeBlock code={MARKDOWN} label="result" wrap />,
              },
              { value: 'loading', label: 'Loading', panel: <SkeletonText /> },
            ]}
          />
        </Box>
        <Box className="flex flex-col gap-4">
          <KeyValue
            facts={[
              { label: 'Model', value: 'fixture/writer-small' },
              { label: 'Waited', value: '2.4 s for a free slot' },
              { label: 'Cost', value: '$0.0042' },
            ]}
          />
          <CopyField value="run_01kx3k9y6wfd8r0v5m2c7t4q5d" label="Copy run id" />
          <CodeBlock
            label="curl"
            code={'curl -s -H "Authorization: Bearer $KEY" https://api.example.com/v1/runs'}
          />
        </Box>
      </div>
    </Section>
  );
}

/** Shows bars of two series. */
export function Charts() {
  return (
    <Section title="Bars" boxed>
      <BarChart
        label="Tokens a day over two weeks, by routine"
        data={DAYS}
        series={[
          { key: 'audit', label: 'Weekly audit' },
          { key: 'check', label: 'Daily site check' },
        ]}
        format={(value) => `${Math.round(value / 1_000)}k`}
      />
    </Section>
  );
}
