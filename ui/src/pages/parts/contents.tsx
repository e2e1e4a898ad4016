import { ListChecks, Play, Plus } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '#ui/api/error.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Combobox } from '#ui/parts/combobox.tsx';
import { CodeBlock, CopyField } from '#ui/parts/copy.tsx';
import { EmptyState, ErrorState, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { BarChart, RichText } from '#ui/parts/lazily.tsx';
import { Box, KeyValue, Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { DataTable } from '#ui/parts/table.tsx';
import { Tabs } from '#ui/parts/tabs.tsx';
import { Ticks } from '#ui/parts/ticks.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Checkbox, RadioCards, Switch } from '#ui/parts/toggles.tsx';
import { DAYS, ERROR, ITEMS, MARKDOWN, ROUTINES, RUNS, STATES } from './samples.ts';

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

/** Shows a table of routines, and a table that still loads. */
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
          <CodeBlock label="curl" code={'curl -s -H "Authorization: Bearer $KEY" https://api.example.com/v1/runs'} />
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

/** Shows the controls of forms, also with an error. */
export function Fields() {
  const [zone, setZone] = useState<'utc' | 'berlin'>('utc');
  const [item, setItem] = useState<(typeof ITEMS)[number] | null>(null);
  const [checked, setChecked] = useState(true);
  const [policy, setPolicy] = useState<'skip' | 'queue' | 'allow'>('skip');
  return (
    <Section title="Fields" boxed>
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Name" description="Shown in lists and mails.">
          <Input defaultValue="Weekly audit" />
        </Field>
        <Field label="Webhook URL" optional error="Only https addresses are allowed.">
          <Input defaultValue="http://example.com" />
        </Field>
        <Field label="Instructions" aside="52 / 24,000" className="sm:col-span-2">
          <Textarea mono defaultValue="Audit {{site}} and report what changed since last week." />
        </Field>
        <Field label="Time zone">
          <Select
            options={[
              { value: 'utc', label: 'UTC' },
              { value: 'berlin', label: 'Europe/Berlin', hint: 'two hours ahead in summer' },
            ]}
            value={zone}
            onChange={setZone}
          />
        </Field>
        <Field label="Model">
          <Combobox
            items={ITEMS}
            value={item}
            onChange={setItem}
            labelOf={({ label }) => label}
            keyOf={({ id }) => id}
          />
        </Field>
        <Checkbox
          label="Give the result of the last run"
          description="The model sees what it said last time."
          checked={checked}
          onChange={setChecked}
        />
        <Switch label="Pause after five failures" checked={checked} onChange={setChecked} />
        <div className="sm:col-span-2">
          <RadioCards
            label="When the last run still runs"
            columns={3}
            value={policy}
            onChange={setPolicy}
            options={[
              { value: 'skip', label: 'Skip', description: 'The new one is passed over.' },
              { value: 'queue', label: 'Queue', description: 'One waits for its turn.' },
              { value: 'allow', label: 'Allow', description: 'Both run at a time.' },
            ]}
          />
        </div>
        <FormError message="The model is not in the live model directory." />
      </div>
    </Section>
  );
}

/** Shows the states of a page that is empty, failed or forbidden. */
export function Feedback() {
  return (
    <Section title="Empty, failed, forbidden">
      <div className="grid gap-4 sm:grid-cols-2">
        <EmptyState
          icon={ListChecks}
          title="No routines yet"
          action={
            <Button kind="primary" icon={Plus}>
              New routine
            </Button>
          }
        >
          A routine is work that runs by itself, on time, with its result delivered.
        </EmptyState>
        <ErrorState error={ERROR} onRetry={() => undefined} />
        <ErrorState
          error={
            new ApiError({
              status: 403,
              code: 'forbidden',
              message: 'Only owners and admins see this.',
            })
          }
        />
        <div className="flex flex-col gap-3">
          <Notice>Changes to the instructions return this routine to draft.</Notice>
          <Notice tone="warn">This may be out of date.</Notice>
          <Notice tone="bad">The payment has failed. Access ends on 3 December.</Notice>
        </div>
      </div>
    </Section>
  );
}
