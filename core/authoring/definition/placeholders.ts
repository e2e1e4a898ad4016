const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}/g;

/** Placeholders that a run fills in addition to its variables. */
export const BUILT_IN_VARIABLES = [
  'now',
  'date',
  'routine.name',
  'run.id',
  'scheduledFor',
  'previous.result',
  'previous.finishedAt',
  'gate.value',
  'previous.data',
  'previous.changes',
  'actions',
  'answers',
] as const;
export type BuiltInVariable = (typeof BUILT_IN_VARIABLES)[number];

/** Returns each placeholder without a value once. `gate.value` has a value only if the routine has a gate. */
export function unknownPlaceholders(
  instructions: string,
  variables: Readonly<Record<string, string>>,
  hasGate: boolean,
): string[] {
  const asked = Array.from(instructions.matchAll(PLACEHOLDER), (match) => match[1] ?? '');
  return [...new Set(asked)].filter((name) =>
    isBuiltIn(name) ? name === 'gate.value' && !hasGate : !Object.hasOwn(variables, name),
  );
}

export function asksFor(instructions: string, name: BuiltInVariable): boolean {
  return Array.from(instructions.matchAll(PLACEHOLDER)).some(([, asked]) => asked === name);
}

/** Fills in the placeholders. Placeholders inside a value, and unknown placeholders, stay unchanged. */
export function fillPlaceholders(
  instructions: string,
  variables: Readonly<Record<string, string>>,
  builtIns: Readonly<Record<BuiltInVariable, string>>,
): string {
  return instructions.replaceAll(PLACEHOLDER, (whole, name: string) => valueOf(name, variables, builtIns) ?? whole);
}

/** Returns the length of the text that `fillPlaceholders` would make, in characters. */
export function filledLength(
  instructions: string,
  variables: Readonly<Record<string, string>>,
  builtIns: Readonly<Record<BuiltInVariable, string>>,
): number {
  let length = instructions.length;
  for (const [whole, name = ''] of instructions.matchAll(PLACEHOLDER)) {
    length += (valueOf(name, variables, builtIns) ?? whole).length - whole.length;
  }
  return length;
}

function valueOf(
  name: string,
  variables: Readonly<Record<string, string>>,
  builtIns: Readonly<Record<BuiltInVariable, string>>,
): string | undefined {
  // Prefer the variable, which may be older than the built-in of the same name.
  if (Object.hasOwn(variables, name)) return variables[name];
  return isBuiltIn(name) ? builtIns[name] : undefined;
}

function isBuiltIn(name: string): name is BuiltInVariable {
  return BUILT_IN_VARIABLES.some((builtIn) => builtIn === name);
}
