import { count } from '#ui/format/numbers.ts';
import { CodeBlock } from './copy.tsx';
import { Fold } from './fold.tsx';

/** Shows a text under its name and length, folded until it is asked for. */
export function TextFold({
  label,
  note,
  text,
  startsOpen = false,
}: {
  readonly label: string;
  readonly note: string;
  readonly text: string;
  readonly startsOpen?: boolean;
}) {
  return (
    <Fold
      startsOpen={startsOpen}
      summary={
        <span className="flex min-w-0 grow items-baseline gap-2">
          <span className="text-sm font-medium text-ink">{label}</span>
          <span className="truncate text-sm text-muted">{note}</span>
          <span className="ml-auto shrink-0 text-xs text-faint tabular max-sm:hidden">
            {count(text.length)} characters
          </span>
        </span>
      }
    >
      <CodeBlock code={text} label={label.toLowerCase()} wrap />
    </Fold>
  );
}
