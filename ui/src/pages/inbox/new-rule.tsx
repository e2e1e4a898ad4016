import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { placeInWords } from '#ui/format/action-words.ts';
import { drawn } from '#ui/format/drawn.ts';
import { Notice } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Select } from '#ui/parts/select.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { COMPARISONS, conditionOf, leavesOf, type Comparison, type Leaf } from './rule-conditions.ts';

const LASTS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'always', label: 'Until it is revoked' },
] as const;
const DAY_MS = 86_400_000;

interface Chosen {
  readonly comparison: Comparison;
  readonly text: string;
}

interface NewRuleProps {
  readonly action: Shape<'Action'>;
  readonly onClose: () => void;
}

/** Makes a standing rule of a call: later calls like it are made without a person. */
export default function NewRule({ action, onClose }: NewRuleProps) {
  const { routineId, policyId, toolName } = action;
  const form = useForm({ defaultValues: { maxUses: '' } });
  const [lasts, setLasts] = useState<(typeof LASTS)[number]['value']>('30');
  const [chosen, setChosen] = useState<ReadonlyMap<string, Chosen>>(new Map());
  const create = useSend('post', '/v1/routines/{routineId}/tools/{policyId}/rules', {
    refreshes: ['/v1/routines'],
    done: 'Rule saved. It applies to later calls.',
    showsError: true,
  });
  const leaves = leavesOf(action.arguments ?? {});
  const conditions = leaves.flatMap((leaf) => {
    const given = chosen.get(leaf.pointer);
    return given === undefined ? [] : conditionOf(leaf, given.comparison, given.text);
  });
  const isIncomplete = conditions.length < chosen.size;
  const maxUses = form.watch('maxUses').trim();
  const uses = maxUses === '' ? null : Number(maxUses);
  // Refuse NaN and infinity: JSON would write them as null, which means no limit.
  const noNumber = uses === null || Number.isFinite(uses) ? undefined : 'This is not a number.';
  const change = (pointer: string, to: Chosen | undefined) =>
    setChosen((before) => {
      const after = new Map(before);
      if (to === undefined) after.delete(pointer);
      else after.set(pointer, to);
      return after;
    });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      size="lg"
      title={`Allow calls of ${drawn(toolName)} like this one?`}
      description="Later calls of this routine that meet every condition are made without your approval; arguments that you do not choose may have any value. The present call still waits for you."
      action="Save rule"
      disabledReason={
        conditions.length === 0 || isIncomplete ? 'Choose at least one argument, and give each a value.' : noNumber
      }
      onSubmit={async () => {
        const expiresAt = lasts === 'always' ? null : new Date(Date.now() + Number(lasts) * DAY_MS).toISOString();
        await create.sendAsync({ path: { routineId, policyId }, body: { conditions, expiresAt, maxUses: uses } });
        onClose();
      }}
    >
      {leaves.length === 0 && <Notice>This call has no argument that a rule can compare.</Notice>}
      <ul className="flex flex-col gap-3">
        {leaves.map((leaf) => (
          <li key={leaf.pointer}>
            <LeafRow leaf={leaf} chosen={chosen.get(leaf.pointer)} onChange={(to) => change(leaf.pointer, to)} />
          </li>
        ))}
      </ul>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <Field label="Lasts">
          <Select options={LASTS} value={lasts} onChange={setLasts} />
        </Field>
        <Field label="Calls, at most" optional error={noNumber ?? form.formState.errors.maxUses?.message}>
          <Input {...form.register('maxUses')} inputMode="numeric" placeholder="No limit" autoComplete="off" />
        </Field>
      </div>
    </FormDialog>
  );
}

interface LeafRowProps {
  readonly leaf: Leaf;
  readonly chosen: Chosen | undefined;
  readonly onChange: (to: Chosen | undefined) => void;
}

function LeafRow({ leaf, chosen, onChange }: LeafRowProps) {
  const name = placeInWords(leaf.pointer);
  const write = (text: string) => {
    if (chosen !== undefined) onChange({ ...chosen, text });
  };
  const control = {
    'aria-label': `Value of ${name}`,
    value: chosen?.text ?? '',
    onChange: ({ target }: { readonly target: { readonly value: string } }) => write(target.value),
  };
  return (
    <>
      <Checkbox
        label={<span className="font-mono text-sm wrap-anywhere">{name}</span>}
        description={chosen === undefined ? drawn(String(leaf.value)).slice(0, 160) : undefined}
        checked={chosen !== undefined}
        onChange={(isOn) => onChange(isOn ? { comparison: 'equals', text: String(leaf.value) } : undefined)}
      />
      {chosen !== undefined && (
        <div className="mt-1.5 ml-7 grid grid-cols-1 gap-2 sm:grid-cols-[10rem_minmax(0,1fr)]">
          <Select
            label={`Comparison of ${name}`}
            options={COMPARISONS.filter(({ value }) => leaf.comparisons.includes(value))}
            value={chosen.comparison}
            onChange={(comparison) => onChange({ ...chosen, comparison })}
          />
          {chosen.comparison === 'in' ? (
            <Textarea {...control} rows={3} placeholder="One a line" />
          ) : typeof leaf.value === 'string' || typeof leaf.value === 'number' ? (
            <Input {...control} autoComplete="off" />
          ) : (
            <span className="self-center font-mono text-sm">{String(leaf.value)}</span>
          )}
        </div>
      )}
    </>
  );
}
