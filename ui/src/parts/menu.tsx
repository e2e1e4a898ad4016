import { Menu as Base } from '@base-ui/react/menu';
import { Ellipsis, type LucideIcon } from 'lucide-react';
import type { ReactElement } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './cx.ts';
import { POPUP, POPUP_ITEM } from './popup.ts';

export interface MenuAction {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly onSelect: () => void;
  readonly danger?: boolean;
  /** The reason why the action cannot be chosen now. */
  readonly disabledReason?: string | undefined;
}

export interface MenuProps {
  /** Groups of actions, separated by lines. */
  readonly groups: readonly (readonly MenuAction[])[];
  /** Label of the button if there is no `trigger`. */
  readonly label?: string;
  readonly trigger?: ReactElement<Record<string, unknown>>;
  readonly align?: 'start' | 'center' | 'end';
}

/** Offers actions that are too rare for a button of their own. */
export function Menu({ groups, label = 'More', trigger, align = 'end' }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger ?? <IconButton icon={Ellipsis} label={label} size="sm" />} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align={align} className="z-50 outline-none">
          <Base.Popup className={cx(POPUP, 'min-w-44')}>
            {groups
              .filter((group) => group.length > 0)
              .map((group, index) => (
                <Base.Group key={group[0]?.label}>
                  {index > 0 && <Base.Separator className="mx-1 my-1 h-px bg-line" />}
                  {group.map((action) => (
                    <Item key={action.label} {...action} />
                  ))}
                </Base.Group>
              ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Item({ label, icon: Icon, onSelect, danger = false, disabledReason }: MenuAction) {
  return (
    <Base.Item
      disabled={disabledReason !== undefined}
      onClick={onSelect}
      className={cx(POPUP_ITEM, danger && 'text-bad-ink')}
    >
      {Icon !== undefined && <Icon aria-hidden className={cx('size-4', !danger && 'text-muted')} strokeWidth={1.75} />}
      <span className="flex flex-col">
        {label}
        {disabledReason !== undefined && <span className="text-xs text-muted">{disabledReason}</span>}
      </span>
    </Base.Item>
  );
}
