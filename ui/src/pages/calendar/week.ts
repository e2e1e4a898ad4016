/** Returns the first instant of the Monday of a week, in the reader's zone. */
export function weekStart(text: string | undefined, now = new Date()): Date {
  const named = /^\d{4}-\d{2}-\d{2}$/.test(text ?? '') ? new Date(`${text}T00:00:00`) : now;
  const at = Number.isNaN(named.getTime()) ? now : named;
  const weekday = (at.getDay() + 6) % 7;
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() - weekday);
}

/** Returns the same time so many days later by the calendar, which a change of the clocks does not move. */
export function addDays(at: Date, days: number): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate() + days);
}

/** Formats a day as "2026-11-23", as the address names a week. */
export function dayName(at: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
