import { useState } from 'react';
import { Combobox } from '#ui/parts/combobox.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox, RadioCards, Switch } from '#ui/parts/toggles.tsx';
import { ITEMS } from './samples.ts';

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
