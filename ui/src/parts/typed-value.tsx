import { drawn } from '#ui/format/drawn.ts';
import { shownOf } from '#ui/format/typed-values.ts';
import { cx } from './cx.ts';
import { Fold } from './fold.tsx';
import { PlainText } from './plain-text.tsx';
import { Time } from './time.tsx';

/** Length from which a text takes two lines of a table. Its title then has the rest. */
const LONG = 48;

/** Shows a text in full; in a table on a screen only as much as fits its row. */
function TextValue({ text }: { text: string }) {
  const isLong = text.length > LONG;
  return (
    <span
      title={isLong ? text : undefined}
      className={cx(
        'wrap-break-word whitespace-pre-line',
        isLong ? 'in-[table]:line-clamp-2 print:line-clamp-none!' : 'in-[table]:whitespace-nowrap',
      )}
    >
      {text}
    </span>
  );
}

/** Shows one value of data by its type; objects and lists are folded. */
export function TypedValue({ value, format }: { value: unknown; format: string | undefined }) {
  const shown = shownOf(value, format);
  switch (shown.as) {
    case 'nothing':
      return <span className="text-faint">–</span>;
    case 'time':
      return <Time at={shown.at} />;
    case 'link':
      return (
        <a
          href={shown.href}
          target="_blank"
          rel="noreferrer noopener nofollow"
          title={shown.href}
          className="text-accent-ink underline underline-offset-2 wrap-anywhere in-[table]:block in-[table]:truncate print:in-[table]:whitespace-normal"
        >
          {shown.text}
        </a>
      );
    case 'nested':
      return (
        <div className="min-w-36">
          <Fold className="-ml-3 text-sm" summary={shown.text}>
            <PlainText text={JSON.stringify(shown.value, null, 2)} label={shown.text} />
          </Fold>
        </div>
      );
    default:
      return <TextValue text={drawn(shown.text)} />;
  }
}
