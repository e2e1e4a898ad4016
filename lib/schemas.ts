import { z } from 'zod';

/** A time in UTC with milliseconds, as in RFC 3339. */
export const timestamp = z.iso
  .datetime({ precision: 3 })
  .meta({ id: 'Timestamp', description: 'RFC 3339, UTC.', example: '2026-11-21T09:00:00.000Z' });

const INSTANT = { type: 'string', format: 'date-time', example: '2027-01-01T00:00:00Z' } as const;
const THIS_AGE = /^2[01]\d\d-/;

/** An instant that a caller gives, in any offset. */
export const instant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .meta(INSTANT);

/** A time within the years that time zone data covers. */
export const instantOfThisAge = z.iso
  .datetime({ offset: true })
  .regex(THIS_AGE, 'in the years 2000 to 2199')
  .transform((text) => new Date(text))
  .meta({ ...INSTANT, pattern: THIS_AGE.source });

/** Returns the schema of a name by a person: one line with a visible character; spaces around it are removed. */
export function nameOf(max: number) {
  return z.string().min(1, EMPTY).max(max).regex(ONE_LINE, `${EMPTY}, and be one line`).trim();
}

/** Returns the schema of the keys of a closed list. */
export function keyOf<K extends string>(list: Readonly<Record<K, unknown>>) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
  return z.enum(Object.keys(list) as K[]);
}

const EMPTY = 'must not be empty';

/** Names appear in mails and logs. The pattern has no nested repetition, so it takes linear time. */
const ONE_LINE =
  // oxlint-disable-next-line no-control-regex -- they are what it is about
  /^\s*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$/;
