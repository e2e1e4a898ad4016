import type { z } from 'zod';

/**
 * Says in plain words what is wrong with a value, where the schema has no words of its own: people read these beside
 * the fields of a form. Undefined leaves it to the library.
 */
export function plainWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'too_small':
      return limit(
        issue.origin,
        Number(issue.minimum),
        issue.inclusive === false ? 'more' : 'least',
      );
    case 'too_big':
      return limit(
        issue.origin,
        Number(issue.maximum),
        issue.inclusive === false ? 'less' : 'most',
      );
    case 'invalid_format':
      return FORMATS[issue.format];
    case 'invalid_value':
      return issue.values.length > 20 ? undefined : `must be one of ${issue.values.join(', ')}`;
    default:
      return undefined;
  }
}

type Bound = 'least' | 'most' | 'more' | 'less';

function limit(origin: string, value: number, bound: Bound): string | undefined {
  const unit = UNITS[origin];
  if (unit === undefined)
    return NUMBERS.has(origin) ? `must be ${BOUNDS[bound]} ${value}` : undefined;
  if (bound === 'least' && value === 1) return 'must not be empty';
  return `must have ${BOUNDS[bound]} ${value} ${unit}${value === 1 ? '' : 's'}`;
}

const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };
const NUMBERS: ReadonlySet<string> = new Set(['number', 'int', 'bigint']);

const BOUNDS: Readonly<Record<Bound, string>> = {
  least: 'at least',
  most: 'at most',
  more: 'more than',
  less: 'less than',
};

const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an e-mail address',
  url: 'must be a URL',
  datetime: 'must be a time like 2027-01-01T00:00:00Z',
};
