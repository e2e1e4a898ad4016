import { Menu as Base } from '@base-ui/react/menu';
import { Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { useState } from 'react';
import { useSession, useSignOut } from '#ui/api/session.ts';
import { initial } from '#ui/format/initial.ts';
import { cx } from '#ui/parts/cx.ts';
import { POPUP, POPUP_ITEM } from '#ui/parts/popup.ts';
import { chooseTheme, readTheme, type ThemeChoice } from '#ui/theme/theme.ts';

const THEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'system', label: 'As the system', icon: Monitor },
] as const satisfies readonly { value: ThemeChoice; label: string; icon: typeof Sun }[];

/** Shows who is signed in, and offers the theme, the keys and the sign-out. */
export function AccountMenu({ onKeys }: { readonly onKeys: () => void }) {
  const { user } = useSession();
  const signOut = useSignOut();
  const [theme, setTheme] = useState(readTheme);
  return (
    <Base.Root>
      <Base.Trigger className="ring-inside mt-2 flex h-10 items-center gap-2.5 rounded-md px-2 text-left hover:bg-hover">
        <span
          aria-hidden
          className="flex size-6 shrink-0 items-center justify-center rounded-full border border-edge text-xs font-medium text-muted"
        >
          {initial(user.name)}
        </span>
        <span className="grow truncate text-sm text-muted">{user.name}</span>
        <span className="sr-only">Account and theme</span>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} side="top" align="start" className="z-50 outline-none">
          <Base.Popup className={cx(POPUP, 'w-60')}>
            <p className="truncate px-2 py-1.5 text-xs text-faint">{user.email}</p>
            <Base.RadioGroup
              aria-label="Theme"
              value={theme}
              onValueChange={(value: ThemeChoice) => {
                chooseTheme(value);
                setTheme(value);
              }}
            >
              {THEMES.map(({ value, label, icon: Icon }) => (
                <Base.RadioItem key={value} value={value} className={POPUP_ITEM}>
                  <Icon aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
                  <span className="grow">{label}</span>
                  <Base.RadioItemIndicator>
                    <span className="block size-1.5 rounded-full bg-accent" />
                  </Base.RadioItemIndicator>
                </Base.RadioItem>
              ))}
            </Base.RadioGroup>
            <Base.Separator className="m-1 h-px bg-line" />
            <Base.Item className={POPUP_ITEM} onClick={onKeys}>
              <Keyboard aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Keyboard
            </Base.Item>
            <Base.Item className={POPUP_ITEM} onClick={() => void signOut()}>
              <LogOut aria-hidden className="size-4 text-muted" strokeWidth={1.75} />
              Sign out
            </Base.Item>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
