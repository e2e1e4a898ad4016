import { createContext, use, useId, useMemo, type ReactNode } from 'react';
import { cx } from './cx.ts';

interface FieldIds {
  readonly id: string;
  readonly describedBy: string | undefined;
  readonly isInvalid: boolean;
}

const FieldContext = createContext<FieldIds | undefined>(undefined);

export interface FieldProps {
  readonly label: ReactNode;
  /** Help that a person needs before filling in the field. */
  readonly description?: ReactNode;
  /** Error of the field, in the server's words. */
  readonly error?: string | undefined;
  readonly optional?: boolean;
  /** Shown at the end of the label's line: a counter, a link. */
  readonly aside?: ReactNode;
  /** True if the label is for screen readers only. */
  readonly labelHidden?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Shows a control with its label, description and error; the control gets its ids from this component. */
export function Field({
  label,
  description,
  error,
  optional = false,
  aside,
  labelHidden = false,
  className,
  children,
}: FieldProps) {
  const id = useId();
  const descriptionId = `${id}-description`;
  const errorId = `${id}-error`;
  const describedBy =
    [description !== undefined && descriptionId, error !== undefined && errorId].filter(Boolean).join(' ') || undefined;
  const isInvalid = error !== undefined;
  const fault = error !== undefined && EMPTY.test(error) && typeof label === 'string' ? askFor(label) : error;
  const ids = useMemo(() => ({ id, describedBy, isInvalid }), [id, describedBy, isInvalid]);
  return (
    <div className={cx('flex flex-col gap-1.5', className)}>
      <div className={cx('flex items-baseline justify-between gap-3', labelHidden && 'sr-only')}>
        <label htmlFor={id} id={`${id}-label`} className="text-sm font-medium text-ink">
          {label}
          {optional && <span className="ml-1.5 font-normal text-faint">Optional</span>}
        </label>
        {aside !== undefined && <span className="text-xs text-faint tabular">{aside}</span>}
      </div>
      {description !== undefined && (
        <p id={descriptionId} className="-mt-1 text-sm text-muted">
          {description}
        </p>
      )}
      <FieldContext value={ids}>{children}</FieldContext>
      {error !== undefined && (
        <p id={errorId} role="alert" className="text-sm text-bad-ink">
          {fault}
        </p>
      )}
    </div>
  );
}

/** The service's words for a value that is missing. */
const EMPTY = /^(?:required|must not be empty)\.?$/i;

/** Makes the error of an empty field, such as "Enter the name." A name in capitals keeps its capitals. */
function askFor(label: string): string {
  const isAcronym = /^[A-Z]{2}/.test(label);
  return `Enter the ${isAcronym ? label : `${label.charAt(0).toLowerCase()}${label.slice(1)}`}.`;
}

/** Returns the attributes that a control inside a field needs. */
export function useFieldProps() {
  const field = use(FieldContext);
  if (field === undefined) return {};
  return {
    id: field.id,
    'aria-describedby': field.describedBy,
    'aria-invalid': field.isInvalid || undefined,
  };
}

/** Shows faults of a form that belong to no field, or an error beside its cause. */
export function FormError({ message }: { readonly message: string | undefined }) {
  if (message === undefined) return null;
  const [words, request] = message.split('\n');
  return (
    <div role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad-ink">
      <p>{words}</p>
      {request !== undefined && <p className="font-mono text-xs wrap-anywhere">{request}</p>}
    </div>
  );
}
