import { sentence } from '#ui/format/capitalized.ts';

/** Reasons that the service gives as a name. */
const REASONS: Readonly<Record<string, string>> = {
  completed: 'The last run said that the work is done. Activate the routine to continue.',
  schedule_ended: 'The schedule has ended. Change its end to continue.',
};

/** Says in words why the service itself changed the state of a routine. */
export function stateReasonInWords(reason: string): string {
  return REASONS[reason] ?? sentence(reason);
}
