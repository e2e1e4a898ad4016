import { Monitor, Moon, Sun, type LucideIcon } from 'lucide-react';

export type ThemeChoice = 'light' | 'dark' | 'system';

export const THEMES: readonly { readonly value: ThemeChoice; readonly label: string; readonly icon: LucideIcon }[] = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'system', label: 'As the system', icon: Monitor },
];

const KEY = 'theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export function readTheme(): ThemeChoice {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

/** Applies a choice and keeps it for this browser; public/theme.js applies it before the first paint. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === 'system') localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  apply();
}

function apply(): void {
  const choice = readTheme();
  const isDark = choice === 'dark' || (choice === 'system' && system.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

/** Keeps the theme current while the page is open, also after a change in the system or in another tab. */
export function watchTheme(): void {
  system.addEventListener('change', apply);
  addEventListener('storage', apply);
}
