import type { AttachedSkill } from '#core/skills/index.ts';

const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_.]*)\s*\}\}/g;

/** Placeholders that every run has a value for. */
export const BUILT_IN_VARIABLES = ['now', 'date', 'routine.name', 'run.id'] as const;

/** The names that a text's placeholders ask for, each once. */
export function placeholdersOf(instructions: string): string[] {
  return [...new Set(Array.from(instructions.matchAll(PLACEHOLDER), (match) => match[1] ?? ''))];
}

/** The names among the placeholders that neither `variables` nor the built-ins have a value for. */
export function unknownPlaceholders(
  instructions: string,
  variables: Readonly<Record<string, string>>,
): string[] {
  const builtIn: readonly string[] = BUILT_IN_VARIABLES;
  return placeholdersOf(instructions).filter(
    (name) => !builtIn.includes(name) && !Object.hasOwn(variables, name),
  );
}

export interface PromptInput {
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly skills: readonly AttachedSkill[];
  readonly routineName: string;
  readonly runId: string;
  readonly timezone: string;
  readonly startedAt: Date;
}

/**
 * The text a run gives to its model: the routine's own instructions with their placeholders filled, then each skill
 * verbatim under its heading, in the routine's order. Values are put in as they are and not looked into again.
 */
export function renderPrompt(input: PromptInput): string {
  const instructions = input.instructions.replaceAll(
    PLACEHOLDER,
    (whole, name: string) => valueOf(name, input) ?? whole,
  );
  const sections = input.skills.map((skill) => `## Skill: ${skill.name}\n\n${skill.instructions}`);
  return [instructions, ...sections].join('\n\n');
}

function valueOf(name: string, input: PromptInput): string | undefined {
  switch (name) {
    case 'now':
      return input.startedAt.toISOString();
    case 'date':
      return localDate(input.startedAt, input.timezone);
    case 'routine.name':
      return input.routineName;
    case 'run.id':
      return input.runId;
    default:
      return Object.hasOwn(input.variables, name) ? input.variables[name] : undefined;
  }
}

function localDate(instant: Date, timezone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' }).format(
    instant,
  );
}
