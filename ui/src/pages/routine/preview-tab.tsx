import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { sentence } from '#ui/format/capitalized.ts';
import { useAsk, type Loaded } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { count, exactMoney, plural, shortCount } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { KeyValue, Section } from '#ui/parts/page.tsx';
import { listInWords } from '#ui/parts/routine-fields.ts';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { TextFold } from '#ui/parts/text-fold.tsx';
import { BASES } from './forecast.tsx';

type Routine = Shape<'RoutineDetail'>;
type Preview = Shape<'RunPreview'>;
type Amount = Shape<'ForecastAmount'>;

/** Shows the prompt and tools of a run that began now, whether it could begin, and its likely cost. */
export default function PreviewTab({ routine }: { readonly routine: Routine }) {
  const [variables, setVariables] = useState<Readonly<Record<string, string>>>({});
  const preview = useAsk(
    '/v1/routines/{routineId}/preview',
    { path: { routineId: routine.id }, body: { variables } },
    { keepPrevious: true },
  );
  return (
    <div className="grid gap-x-8 gap-y-8 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0">
        <Await of={preview} skeleton={<SkeletonText lines={8} />} errorTitle="The preview could not be made">
          {(data) => (
            <>
              <Verdict preflight={data.preflight} />
              <Texts preview={data} hasGate={routine.gate !== null} />
              <Tools tools={data.tools} />
            </>
          )}
        </Await>
      </div>
      <aside className="min-w-0" aria-label="Cost and variables">
        {preview.data !== undefined && <Cost estimate={preview.data.estimate} />}
        <Variables routine={routine} preview={preview} onChange={setVariables} />
      </aside>
    </div>
  );
}

function Verdict({ preflight: { ready, message } }: Pick<Preview, 'preflight'>) {
  return ready ? (
    <Notice tone="good">A run that began now would call its model.</Notice>
  ) : (
    <Notice tone="bad">A run that began now would fail. {sentence(message ?? 'no reason was given')}</Notice>
  );
}

function Texts({ preview, hasGate }: { preview: Preview; hasGate: boolean }) {
  const { preamble, prompt, briefing, skills, facts } = preview;
  const parts = ['instructions', ...(skills.length > 0 ? ['skills'] : [])];
  const isTold = facts !== null && facts.version > 0;
  return (
    <Section
      title="The text for the model"
      description={hasGate ? 'A preview does not ask the gate, so the checked value is left out.' : undefined}
    >
      <ul className="rounded-lg border border-line bg-surface">
        <Text label="Preamble" note="the same for every run" text={preamble} />
        <Text
          label="Prompt"
          note={`${listInWords(isTold ? [...parts, 'project facts'] : parts)}, rendered`}
          text={prompt}
        />
        <Text label="Briefing" note="date, trigger, tools, limits, last result" text={briefing} />
      </ul>
      {facts !== null && (
        <p className="mt-3 text-sm text-faint">
          {isTold ? (
            <>
              Project facts, version {facts.version}, {plural(facts.length, 'character')}
            </>
          ) : (
            'The project has no facts yet.'
          )}
        </p>
      )}
      {skills.length > 0 && (
        <div className="mt-3 flex flex-wrap items-center gap-1.5">
          <span className="mr-1 text-sm text-faint">{plural(skills.length, 'skill')}, in order</span>
          {skills.map(({ reference, name }) => (
            <Badge key={reference}>{name}</Badge>
          ))}
        </div>
      )}
    </Section>
  );
}

function Text({ label, note, text }: { label: string; note: string; text: string | null }) {
  return (
    <li className="border-b border-line last:border-b-0">
      {text === null ? (
        <p className="px-3 py-2 text-sm text-muted">{label}: the text is too large to be shown.</p>
      ) : (
        <TextFold label={label} note={note} text={text} startsOpen={label === 'Prompt'} />
      )}
    </li>
  );
}

function Tools({ tools }: Pick<Preview, 'tools'>) {
  return (
    <Section title="What a run could call">
      {tools.length === 0 ? (
        <p className="text-sm text-muted">No tool: runs of this routine only write.</p>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {tools.map(({ name, description, connectionId }) => (
            <li key={name} className="flex flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-2.5">
              <code className="text-sm wrap-anywhere text-ink">{drawn(name)}</code>
              <Badge>{connectionId === null ? 'Built in' : 'Connection'}</Badge>
              {description !== null && (
                <p className="line-clamp-3 w-full text-sm wrap-anywhere text-muted">{drawn(description)}</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function Cost({ estimate: { inputTokens, least, most, typical } }: Pick<Preview, 'estimate'>) {
  const isPriced = typical.pricing !== 'unpriced';
  return (
    <Section title="What a run may cost" boxed>
      <p className="text-lg font-semibold text-ink tabular">
        {typical.basis === 'limits' && 'At most '}
        {amountOf(typical.p50, isPriced)}
      </p>
      <p className="text-sm text-muted">
        {BASES[typical.basis]}
        {isPriced ? '' : '; the model has no known prices'}
      </p>
      <div className="mt-3 border-t border-line pt-3">
        <KeyValue
          narrow
          facts={[
            { label: 'At least', value: amountOf(least, isPriced) },
            ...(typical.basis === 'limits'
              ? []
              : [
                  { label: 'Rarely over', value: amountOf(typical.p95, isPriced) },
                  { label: 'At most', value: amountOf(most, isPriced) },
                ]),
            {
              label: 'First input',
              value: inputTokens === null ? 'unknown' : `${count(inputTokens)} tokens`,
            },
          ]}
        />
      </div>
    </Section>
  );
}

function amountOf({ tokens, costUsd }: Amount, isPriced: boolean): string {
  if (isPriced) return exactMoney(costUsd);
  return tokens === null ? 'no limit' : `${shortCount(tokens)} tokens`;
}

interface VariablesProps {
  readonly routine: Routine;
  readonly preview: Loaded<Preview>;
  readonly onChange: (variables: Readonly<Record<string, string>>) => void;
}

/** Shows fields to try other values, which are not saved. */
function Variables({ routine: { variables }, preview, onChange }: VariablesProps) {
  const form = useForm({ defaultValues: { variables: { ...variables } } });
  const names = Object.keys(variables);
  if (names.length === 0) return null;
  const submit = form.handleSubmit(({ variables: given }) =>
    onChange(Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== variables[name]))),
  );
  return (
    <Section title="With other values" description="These values are not saved." boxed>
      <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-3">
        {names.map((name) => (
          <Field key={name} label={<code className="text-xs font-normal">{name}</code>}>
            <Input {...form.register(`variables.${name}`)} />
          </Field>
        ))}
        <div>
          <Button type="submit" size="sm" busy={preview.isFetching}>
            Preview with these
          </Button>
        </div>
      </form>
    </Section>
  );
}
