import { fillPlaceholders, isPromptTooLarge } from '#core/routines/index.ts';
import { skillSection, type AttachedSkill } from '#core/skills/index.ts';

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
 * Renders the text a run gives to its model: the routine's own instructions with their placeholders filled, then each
 * skill verbatim under its heading, in the routine's order.
 * @returns undefined when the text would be too large
 */
export function renderPrompt(input: PromptInput): string | undefined {
  const { instructions, variables } = input;
  const builtIns = {
    now: input.startedAt.toISOString(),
    date: localDate(input.startedAt, input.timezone),
    'routine.name': input.routineName,
    'run.id': input.runId,
  };
  const sizes = input.skills.map((skill) => ({
    name: skill.name,
    length: skill.instructions.length,
  }));
  if (isPromptTooLarge({ instructions, variables, builtIns, skills: sizes })) return undefined;
  const sections = input.skills.map((skill) => skillSection(skill));
  return [fillPlaceholders(instructions, variables, builtIns), ...sections].join('\n\n');
}

function localDate(instant: Date, timezone: string): string {
  // The Swedish locale writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short' }).format(
    instant,
  );
}
