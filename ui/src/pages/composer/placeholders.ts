const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}/g;

/** Placeholders that every run fills in by itself. */
export const BUILT_IN = [
  { name: 'date', means: 'the day of the run' },
  { name: 'now', means: 'the time of the run' },
  { name: 'previous.result', means: 'what the last good run said' },
  { name: 'previous.finishedAt', means: 'when the last good run ended' },
  { name: 'routine.name', means: 'the name of this routine' },
  { name: 'run.id', means: 'the id of the run' },
] as const;

/** The variables that the instructions ask for, each once, in their order. */
export function variablesIn(instructions: string): string[] {
  const asked = Array.from(instructions.matchAll(PLACEHOLDER), ([, name = '']) => name);
  // Variables have no dots, so what has one is built in, or a mistake that saving tells of.
  return [...new Set(asked)].filter(
    (name) => !name.includes('.') && !BUILT_IN.some((each) => each.name === name),
  );
}
