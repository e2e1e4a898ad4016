import { useWatch, type UseFormReturn } from 'react-hook-form';
import { count } from '#ui/format/numbers.ts';
import { cx } from '#ui/parts/cx.ts';
import { Field } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';

export interface SkillValues {
  name: string;
  description: string;
  instructions: string;
}

export const EMPTY_SKILL: SkillValues = { name: '', description: '', instructions: '' };

const MIN = 20;
const MAX = 24_000;

/** Makes the API's body of the form: an empty description is null. */
export function bodyOf({ name, description, instructions }: SkillValues) {
  return { name, description: description.trim() === '' ? null : description, instructions };
}

export function SkillFields({ form, rows }: { readonly form: UseFormReturn<SkillValues>; readonly rows: number }) {
  const { errors } = form.formState;
  const length = useWatch({ control: form.control, name: 'instructions', compute: (text) => text.length });
  return (
    <>
      <Field label="Name" error={errors.name?.message}>
        <Input {...form.register('name')} placeholder="House style" autoComplete="off" />
      </Field>
      <Field
        label="Description"
        optional
        description="One line, for people who look for a skill to attach."
        error={errors.description?.message}
      >
        <Input {...form.register('description')} autoComplete="off" />
      </Field>
      <Field
        label="Instructions"
        description="Added to the routine's own instructions, word for word. Markdown is fine."
        error={errors.instructions?.message}
        aside={<Counter length={length} />}
      >
        <Textarea {...form.register('instructions')} mono rows={rows} spellCheck />
      </Field>
    </>
  );
}

function Counter({ length }: { readonly length: number }) {
  const isOutside = length > MAX || (length > 0 && length < MIN);
  return (
    <span className={cx(isOutside && 'text-bad-ink')}>
      {count(length)} of {count(MIN)}–{count(MAX)} characters
    </span>
  );
}
