/** Returns the first instant of a later day, correct across a change of the clocks. */
export function addDays(at: Date, days: number): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days);
}

/** Formats a day as "2026-11-23", as the address names a week. */
export function dayName(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Returns the first instant of a day like "2026-11-23" in the reader's time zone; undefined for any other text. */
export function dayStart(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00` : text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
