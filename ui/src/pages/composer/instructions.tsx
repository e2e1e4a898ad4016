import { X } from 'lucide-react';
import { useRef } from 'react';
import { useFormContext, useWatch } from 'react-hook-form';
import { count } from '#ui/format/numbers.ts';
import { Button, IconButton } from '#ui/parts/button.tsx';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { Checkbox } from '#ui/parts/toggles.tsx';
import type { RoutineForm } from './form.ts';
import { builtInsOf, variablesIn } from './placeholders.ts';

const MAX_LENGTH = 100_000;

/** Number of placeholders with a button; a menu has the others. */
const SHOWN = 5;

export function Instructions() {
  const { register, getValues, setValue, formState } = useFormContext<RoutineForm>();
  const [gate, resultSchema, mayAsk] = useWatch<RoutineForm, ['gate', 'resultSchema', 'mayAsk']>({
    name: ['gate', 'resultSchema', 'mayAsk'],
  });
  const offered = builtInsOf({ gate, resultSchema, mayAsk });
  const area = useRef<HTMLTextAreaElement | null>(null);
  const { ref, ...field } = register('instructions');
  const insert = (name: string) => {
    const text = getValues('instructions');
    const { selectionStart: from = text.length, selectionEnd: to = from } = area.current ?? {};
    const placed = `{{${name}}}`;
    setValue('instructions', `${text.slice(0, from)}${placed}${text.slice(to)}`, {
      shouldDirty: true,
    });
    area.current?.focus();
    requestAnimationFrame(() => area.current?.setSelectionRange(from + placed.length, from + placed.length));
  };
  return (
    <>
      <Field
        label={labelOf('instructions')}
        description="What to do, and what the result should look like. {{name}} becomes a variable."
        error={formState.errors.instructions?.message}
        aside={<Length />}
      >
        <Textarea
          rows={9}
          spellCheck
          placeholder="Look at {{site}} and list what changed since the last run. Begin with what needs action."
          {...field}
          ref={(element) => {
            ref(element);
            area.current = element;
          }}
        />
      </Field>
      <div className="-mt-3 flex flex-wrap items-center gap-1" aria-label="Insert" role="group">
        <span className="mr-1 text-xs text-faint">Insert</span>
        {offered.slice(0, SHOWN).map(({ name, means }) => (
          <Button
            key={name}
            kind="quiet"
            size="sm"
            title={means}
            className="font-mono text-xs font-normal"
            onClick={() => insert(name)}
          >
            {`{{${name}}}`}
          </Button>
        ))}
        <Menu
          label="More to insert"
          align="start"
          groups={[
            offered.slice(SHOWN).map(({ name, means }) => ({
              label: `{{${name}}}: ${means}`,
              onSelect: () => insert(name),
            })),
          ]}
        />
      </div>
      <Variables />
    </>
  );
}

function Length() {
  const { control } = useFormContext<RoutineForm>();
  const length = useWatch({ control, name: 'instructions', compute: (text) => text.length });
  return `${count(length)} / ${count(MAX_LENGTH)}`;
}

function Variables() {
  const { control, setValue, formState } = useFormContext<RoutineForm>();
  const values = useWatch<RoutineForm, 'variables'>({ name: 'variables' });
  const overridable = useWatch<RoutineForm, 'overridable'>({ name: 'overridable' });
  const asked = useWatch({ control, name: 'instructions', compute: variablesIn });
  const names = [...new Set([...asked, ...Object.keys(values)])].filter(
    (name) => asked.includes(name) || (values[name] ?? '') !== '',
  );
  if (names.length === 0) return null;
  const setOpen = (name: string, on: boolean) => {
    const open = names.filter((each) => (each === name ? on : (overridable?.includes(each) ?? true)));
    setValue('overridable', open.length === names.length ? null : open, { shouldDirty: true });
  };
  const errors: Readonly<Record<string, { message?: string } | undefined>> = formState.errors.variables ?? {};
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 text-sm font-medium text-ink">Variables</legend>
      {names.map((name) => (
        <Field
          key={name}
          label={<code className="text-xs font-normal">{name}</code>}
          error={errors[name]?.message}
          aside={asked.includes(name) ? undefined : 'Not in the instructions'}
        >
          <div className="flex gap-1">
            <Input
              value={values[name] ?? ''}
              placeholder={`The value of {{${name}}}`}
              onChange={({ target }) =>
                setValue('variables', { ...values, [name]: target.value }, { shouldDirty: true })
              }
            />
            {!asked.includes(name) && (
              <IconButton
                icon={X}
                label={`Remove ${name}`}
                onClick={() => {
                  const { [name]: _removed, ...rest } = values;
                  setValue('variables', rest, { shouldDirty: true });
                }}
              />
            )}
          </div>
        </Field>
      ))}
      <div className="flex flex-col gap-1.5" role="group" aria-label="Values of one run">
        <p className="text-sm text-muted">
          A run can have other values for the variables chosen here. Values from a run-only API key are data, never
          instructions.
        </p>
        {names.map((name) => (
          <Checkbox
            key={name}
            label={
              <>
                <code className="text-xs font-normal">{name}</code> may be given for one run
              </>
            }
            checked={overridable?.includes(name) ?? true}
            onChange={(on) => setOpen(name, on)}
          />
        ))}
      </div>
    </fieldset>
  );
}

/** Returns the form with its variables as they are saved: a placeholder without a value gets an empty value. */
export function withVariables(form: RoutineForm): RoutineForm {
  const { instructions, overridable } = form;
  const asked = variablesIn(instructions).map((name) => [name, form.variables[name] ?? ''] as const);
  const kept = Object.entries(form.variables).filter(([, value]) => value !== '');
  const variables = Object.fromEntries([...asked, ...kept]);
  const open = overridable?.filter((name) => Object.hasOwn(variables, name)) ?? null;
  return { ...form, variables, overridable: open };
}
