import { scheduleInWords } from '#ui/format/schedule.ts';
import type { RoutineForm } from './form.ts';

/** Words a value of the form as a person reads it. */
export function valueInWords(field: keyof RoutineForm, value: unknown): string {
  if (value === null || value === '') return 'None';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (field === 'schedule' && typeof value === 'string') return scheduleInWords(value) ?? value;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  if (Array.isArray(value)) {
    if (value.length === 0) return 'None';
    return value.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
  }
  const parts = Object.entries(value ?? {}).filter(([, each]) => each !== null);
  return parts.length === 0
    ? 'None'
    : parts
        .map(
          ([name, each]) =>
            `${name}: ${typeof each === 'object' ? JSON.stringify(each) : String(each)}`,
        )
        .join('\n');
}
