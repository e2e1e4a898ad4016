import type { RoutineForm } from './form.ts';

/** The form of a placeholder, as the service reads it. */
const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}/g;

export interface BuiltIn {
  readonly name: string;
  readonly means: string;
  /** The field that this placeholder needs; without it the placeholder is empty. */
  readonly needs?: 'gate' | 'resultSchema' | 'mayAsk';
}

/** Placeholders that every run fills in. A test compares the list with the list of the service. */
export const BUILT_IN: readonly BuiltIn[] = [
  { name: 'date', means: 'the day of the run' },
  { name: 'previous.result', means: 'what the last good run said' },
  { name: 'gate.value', means: 'what was checked before the run', needs: 'gate' },
  { name: 'previous.data', means: 'the data of the last good run', needs: 'resultSchema' },
  {
    name: 'previous.changes',
    means: 'what was new in the data of the last good run',
    needs: 'resultSchema',
  },
  { name: 'actions', means: 'decisions about the calls that waited for a person' },
  { name: 'answers', means: 'questions of earlier runs, with their answers', needs: 'mayAsk' },
  { name: 'scheduledFor', means: 'the scheduled time of the run' },
  { name: 'now', means: 'the time of the run' },
  { name: 'previous.finishedAt', means: 'when the last good run ended' },
  { name: 'routine.name', means: 'the name of this routine' },
  { name: 'run.id', means: 'the id of the run' },
];

/** Picks the placeholders that are not empty in this routine. */
export function builtInsOf(form: Pick<RoutineForm, 'gate' | 'resultSchema' | 'mayAsk'>): readonly BuiltIn[] {
  return BUILT_IN.filter(({ needs }) => needs === undefined || (form[needs] !== null && form[needs] !== false));
}

/** Returns the variables that the instructions ask for, each once, in their order. */
export function variablesIn(instructions: string): string[] {
  const asked = Array.from(instructions.matchAll(PLACEHOLDER), ([, name = '']) => name);
  // Variables have no dots, so a name with a dot is built in, or a mistake that saving reports.
  return [...new Set(asked)].filter((name) => !name.includes('.') && !BUILT_IN.some((each) => each.name === name));
}
