import { get, useFormContext, type FieldPath } from 'react-hook-form';
import { Field, type FieldProps } from '#ui/parts/field.tsx';
import { Input } from '#ui/parts/input.tsx';
import { labelOf } from '#ui/parts/routine-fields.ts';
import { numberOrNull, textOrNull, type RoutineForm } from './form.ts';

export interface ValueFieldProps extends Omit<FieldProps, 'label' | 'children' | 'error'> {
  readonly name: FieldPath<RoutineForm>;
  readonly placeholder?: string;
  /** Stands behind the number. */
  readonly unit?: string;
}

/** A number; empty means that there is no such limit. */
export function NumberField({ name, placeholder, unit, ...field }: ValueFieldProps) {
  const { register, formState } = useFormContext<RoutineForm>();
  return (
    <Field {...field} label={labelOf(name)} error={messageAt(formState.errors, name)}>
      <div className="flex items-center gap-2">
        <Input
          inputMode="decimal"
          placeholder={placeholder}
          className="max-w-32 tabular"
          {...register(name, { setValueAs: numberOrNull })}
        />
        {unit !== undefined && <span className="text-sm whitespace-nowrap text-muted">{unit}</span>}
      </div>
    </Field>
  );
}

/** A text; empty means none. */
export function TextField({ name, placeholder, unit, ...field }: ValueFieldProps) {
  const { register, formState } = useFormContext<RoutineForm>();
  return (
    <Field {...field} label={labelOf(name)} error={messageAt(formState.errors, name)}>
      <div className="flex items-center gap-2">
        <Input
          placeholder={placeholder}
          className={unit === undefined ? undefined : 'max-w-32 tabular'}
          {...register(name, { setValueAs: textOrNull })}
        />
        {unit !== undefined && <span className="text-sm whitespace-nowrap text-muted">{unit}</span>}
      </div>
    </Field>
  );
}

/** Finds the message of the error at a path of the form. */
export function messageAt(errors: object, name: string): string | undefined {
  const message: unknown = get(errors, `${name}.message`);
  return typeof message === 'string' ? message : undefined;
}
