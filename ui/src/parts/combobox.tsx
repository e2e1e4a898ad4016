import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from './cx.ts';
import { useFieldProps } from './field.tsx';
import { CONTROL } from './input.tsx';
import { POPUP, POPUP_ITEM } from './popup.ts';

export interface ComboboxProps<Item> {
  readonly items: readonly Item[];
  readonly value: Item | null;
  readonly onChange: (item: Item) => void;
  /** Text of an item, shown in the box and searched. */
  readonly labelOf: (item: Item) => string;
  readonly keyOf: (item: Item) => string;
  readonly render?: (item: Item) => ReactNode;
  readonly placeholder?: string;
  /** Text when no item matches. */
  readonly empty?: string;
  readonly label?: string;
  readonly disabled?: boolean;
  /** Searches on the server for the typed text. Without this function, the combobox itself filters the items. */
  readonly onType?: (text: string) => void;
}

/** The most matches that are drawn, because there may be thousands. */
const SHOWN = 500;

/** Chooses one item of many, found by typing. */
export function Combobox<Item>({
  items,
  value,
  onChange,
  labelOf,
  keyOf,
  render = labelOf,
  placeholder = 'Search',
  empty = 'Nothing fits.',
  label,
  disabled = false,
  onType,
}: ComboboxProps<Item>) {
  const field = useFieldProps();
  return (
    <Base.Root
      items={items}
      limit={SHOWN}
      {...(onType === undefined ? {} : { filter: null, onInputValueChange: onType })}
      value={value}
      disabled={disabled}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
      itemToStringLabel={labelOf}
      isItemEqualToValue={(a, b) => keyOf(a) === keyOf(b)}
      autoHighlight
    >
      <div className="relative">
        <Base.Input
          {...field}
          aria-label={label}
          placeholder={placeholder}
          className={cx(CONTROL, 'h-8 pr-8 pointer-coarse:h-10')}
        />
        <Base.Trigger
          tabIndex={-1}
          aria-label="Show all"
          className="absolute inset-y-0 right-0 flex w-8 items-center justify-center text-faint"
        >
          <ChevronsUpDown aria-hidden className="size-3.5" />
        </Base.Trigger>
      </div>
      <Base.Portal>
        <Base.Positioner sideOffset={4} className="z-50 outline-none">
          <Base.Popup className={cx(POPUP, 'max-h-80 w-(--anchor-width) min-w-64')}>
            <Base.Empty className="px-2 py-1.5 text-sm text-muted empty:hidden">{empty}</Base.Empty>
            <Base.List>
              {(item: Item) => (
                <Base.Item key={keyOf(item)} value={item} className={POPUP_ITEM}>
                  <span className="min-w-0 grow">{render(item)}</span>
                  <Base.ItemIndicator className="pl-2">
                    <Check aria-hidden className="size-4 text-accent-ink" />
                  </Base.ItemIndicator>
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
