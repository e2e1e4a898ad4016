import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { useFieldProps } from './field.tsx';
import { CONTROL } from './input.tsx';
import { POPUP, POPUP_ITEM } from './popup.ts';

export interface Option<Value extends string> {
  readonly value: Value;
  readonly label: string;
  /** Second, smaller line. */
  readonly hint?: string | undefined;
  readonly disabled?: boolean;
}

export interface SelectProps<Value extends string> {
  readonly options: readonly Option<Value>[];
  readonly value: Value | null;
  readonly onChange: (value: Value) => void;
  readonly placeholder?: string;
  readonly label?: string;
  readonly disabled?: boolean;
  /** True for a control without a frame that is as wide as its content, for filters in a line. */
  readonly compact?: boolean;
  readonly icon?: ReactNode;
  readonly className?: string;
}

/** Chooses one of a few options. For many, or to search, use the combobox. */
export function Select<Value extends string>({
  options,
  value,
  onChange,
  placeholder = 'Choose',
  label,
  disabled = false,
  compact = false,
  icon,
  className,
}: SelectProps<Value>) {
  const field = useFieldProps();
  const chosen = options.find((option) => option.value === value);
  return (
    <Base.Root
      items={options.map((option) => ({ value: option.value, label: option.label }))}
      value={value}
      disabled={disabled}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
    >
      <Base.Trigger
        {...field}
        aria-label={label}
        className={cx(
          CONTROL,
          'flex h-8 items-center justify-between gap-2 text-left pointer-coarse:h-10',
          compact && 'w-auto! max-w-full',
          className,
        )}
      >
        {icon}
        <span className={cx('truncate', chosen === undefined && 'text-faint')}>
          <Base.Value>{chosen?.label ?? placeholder}</Base.Value>
        </span>
        <Base.Icon>
          <ChevronsUpDown aria-hidden className="size-3.5 text-faint" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50 outline-none">
          <Base.Popup className={cx(POPUP, 'min-w-(--anchor-width)')}>
            <Base.List>
              {options.map((option) => (
                <Base.Item key={option.value} value={option.value} disabled={option.disabled} className={POPUP_ITEM}>
                  <span className="flex min-w-0 flex-col">
                    <Base.ItemText>{option.label}</Base.ItemText>
                    {option.hint !== undefined && <span className="text-xs text-muted">{option.hint}</span>}
                  </span>
                  <Base.ItemIndicator className="ml-auto pl-3">
                    <Check aria-hidden className="size-4 text-accent-ink" />
                  </Base.ItemIndicator>
                </Base.Item>
              ))}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
