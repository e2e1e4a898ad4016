import { Time } from '#ui/parts/time.tsx';

const SOON_MS = 24 * 3_600_000;

export interface ExpiryProps {
  readonly at: string;
  /** What happens then: "rejected". */
  readonly word: string;
}

/** Says when an item ends by itself, once that is near. */
export function Expiry({ at, word }: ExpiryProps) {
  // oxlint-disable-next-line react/purity -- the list is read again every few seconds
  if (Date.parse(at) - Date.now() > SOON_MS) return null;
  return (
    <span className="shrink-0 text-warn-ink">
      {word} <Time at={at} as="relative" />
    </span>
  );
}
