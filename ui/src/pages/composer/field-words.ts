import { scheduleInWords } from '#ui/format/schedule.ts';
import type { RoutineForm } from './form.ts';

export const FIELD_NAMES: Readonly<Record<keyof RoutineForm, string>> = {
  name: 'Name',
  instructions: 'Instructions',
  variables: 'Variables',
  overridable: 'Variables of one run',
  schedule: 'Schedule',
  timezone: 'Time zone',
  startsAt: 'Not before',
  endsAt: 'Not after',
  skipDates: 'Days off',
  jitterSeconds: 'Spread',
  model: 'Model',
  skills: 'Skills',
  carryResult: 'Previous result',
  builtInTools: 'Built-in tools',
  outcome: 'Outcome',
  checks: 'Checks',
  overlap: 'When the last run is still going',
  misfire: 'When a time was missed',
  limits: 'Limits',
  budget: 'Budget',
  pauseAfterFailures: 'Pause after failures',
  webhookUrl: 'Webhook',
  gate: 'Gate',
  resultSchema: 'Result schema',
  resultKey: 'Result key',
  deliver: 'What is delivered',
  notifications: 'Who is told',
};

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
