/**
 * Tells whether `name` is an IANA time zone or link that this runtime's `Intl` knows. Offsets (`+02:00`) are
 * not zones, nor are ICU's own abbreviations, which mislead: `BST` would be Dhaka and `AST` Anchorage.
 */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name) || /^systemv\//i.test(name)) return false;
  if (name.length === 3 && !IANA_ABBREVIATIONS.has(name.toUpperCase())) return false;
  try {
    return Intl.DateTimeFormat('en-US', { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

/** Lists the three-letter names of the IANA database itself. */
const IANA_ABBREVIATIONS: ReadonlySet<string> = new Set([
  'CET',
  'EET',
  'EST',
  'GMT',
  'HST',
  'MET',
  'MST',
  'PRC',
  'ROC',
  'ROK',
  'UCT',
  'UTC',
  'WET',
]);
