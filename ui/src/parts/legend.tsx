import { cx } from './cx.ts';

/** Names the series of a chart by the shades in which its bars are drawn. */
export function Legend({ series }: { readonly series: readonly { readonly key: string; readonly label: string }[] }) {
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1">
      {series.map(({ key, label }, index) => (
        <li key={key} className="flex min-w-0 items-center gap-1.5 text-xs text-muted">
          <span
            aria-hidden
            className={cx('size-2 shrink-0 rounded-sm bg-accent', SHADES[Math.min(index, SHADES.length - 1)])}
          />
          <span className="truncate">{label}</span>
        </li>
      ))}
    </ul>
  );
}

/** Shades of one hue: series differ by lightness, so that colour is not needed to distinguish them. */
export const SHADES: readonly string[] = ['opacity-100', 'opacity-75', 'opacity-55', 'opacity-40', 'opacity-28'];
