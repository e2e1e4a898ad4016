import { drawn } from '#ui/format/drawn.ts';
import { shownOf } from '#ui/format/typed-values.ts';
import { Fold } from './fold.tsx';
import { PlainText } from './plain-text.tsx';
import { Time } from './time.tsx';

/** Shows one value of data by what it is; what holds others is folded. */
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
          className="text-accent-ink underline underline-offset-2 wrap-anywhere"
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
      return <span className="wrap-break-word whitespace-pre-line">{drawn(shown.text)}</span>;
  }
}
