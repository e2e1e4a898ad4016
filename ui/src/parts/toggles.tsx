import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox';
import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { Switch as BaseSwitch } from '@base-ui/react/switch';
import { Check } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { cx } from './cx.ts';

export interface ToggleProps {
  readonly label: ReactNode;
  readonly description?: ReactNode;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}

/** Shows a checkbox, in a list or in a form. */
export function Checkbox({ label, description, checked, onChange, disabled = false }: ToggleProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <BaseCheckbox.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-describedby={description === undefined ? undefined : `${id}-description`}
        className="mt-0.5 flex size-4.5 shrink-0 items-center justify-center rounded-sm border border-edge bg-surface hover:border-faint data-checked:border-accent data-checked:bg-accent data-disabled:opacity-55"
      >
        <BaseCheckbox.Indicator>
          <Check aria-hidden className="size-3.5 text-on-accent" strokeWidth={3} />
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <Labels id={id} label={label} description={description} />
    </div>
  );
}

/** Switches a setting at once. */
export function Switch({ label, description, checked, onChange, disabled = false }: ToggleProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <BaseSwitch.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        disabled={disabled}
        aria-describedby={description === undefined ? undefined : `${id}-description`}
        className="mt-0.5 flex h-4.5 w-8 shrink-0 rounded-full bg-faint p-0.5 transition-colors duration-100 data-checked:bg-accent data-disabled:opacity-55"
      >
        <BaseSwitch.Thumb className="size-3.5 rounded-full bg-on-accent transition-transform duration-100 data-checked:translate-x-3.5" />
      </BaseSwitch.Root>
      <Labels id={id} label={label} description={description} />
    </div>
  );
}

function Labels({ id, label, description }: { id: string } & Pick<ToggleProps, 'label' | 'description'>) {
  return (
    <div className="min-w-0">
      <label htmlFor={id} className="text-base text-ink">
        {label}
      </label>
      {description !== undefined && (
        <p id={`${id}-description`} className="text-sm text-muted">
          {description}
        </p>
      )}
    </div>
  );
}

export interface Card<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly description?: ReactNode;
  readonly disabled?: boolean;
}

export interface RadioCardsProps<Value extends string> {
  /** Names the group. */
  readonly label: string;
  readonly options: readonly Card<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly columns?: 1 | 2 | 3;
}

const COLUMNS = { 1: '', 2: 'sm:grid-cols-2', 3: 'sm:grid-cols-3' } as const;

/** Chooses one of a few values that each need a word of explanation. */
export function RadioCards<Value extends string>({
  label,
  options,
  value,
  onChange,
  columns = 1,
}: RadioCardsProps<Value>) {
  const id = useId();
  return (
    <RadioGroup
      aria-label={label}
      value={value}
      onValueChange={(next) => {
        const chosen = options.find((option) => option.value === next);
        if (chosen !== undefined) onChange(chosen.value);
      }}
      className={cx('grid grid-cols-1 gap-2', COLUMNS[columns])}
    >
      {options.map((option) => (
        <label
          key={option.value}
          htmlFor={`${id}-${option.value}`}
          className={cx(
            'flex items-start gap-2.5 rounded-lg border border-line bg-surface px-3 py-2.5 transition-colors duration-100 has-data-checked:border-accent has-data-checked:bg-accent-soft',
            option.disabled === true ? 'opacity-55' : 'cursor-pointer hover:border-edge',
          )}
        >
          <Radio.Root
            id={`${id}-${option.value}`}
            value={option.value}
            disabled={option.disabled ?? false}
            className="mt-0.5 flex size-4.5 shrink-0 items-center justify-center rounded-full border border-edge bg-surface data-checked:border-accent data-checked:bg-accent"
          >
            <Radio.Indicator className="size-1.5 rounded-full bg-on-accent" />
          </Radio.Root>
          <span className="min-w-0">
            <span className="block text-base font-medium text-ink">{option.label}</span>
            {option.description !== undefined && <span className="block text-sm text-muted">{option.description}</span>}
          </span>
        </label>
      ))}
    </RadioGroup>
  );
}
