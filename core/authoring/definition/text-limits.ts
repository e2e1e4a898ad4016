import { sectionLength, STATE_SECTION, type SkillSize } from '#core/authoring/skills/index.ts';
import { invalid } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { resultSection, type ResultKey } from './results.ts';
import { filledLength, type BuiltInVariable } from './placeholders.ts';

/**
 * The most characters of text that a run sends its model: instructions, skills, facts, form of the result and previous
 * result.
 */
const MAX_PROMPT_LENGTH = 400_000;

/** The most characters of a result that the next run receives. */
export const MAX_CARRIED_LENGTH = 12_000;

/** The most characters that the values of all variables have together. */
const MAX_VARIABLES_LENGTH = 100_000;

export interface PromptParts {
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly builtIns: Readonly<Record<BuiltInVariable, string>>;
  readonly skills: readonly SkillSize[];
  readonly resultSchema: JsonObject | null;
  readonly resultKey: ResultKey | null;
  /** Characters of the section with the project's facts; 0 when the routine does not use them. */
  readonly factsLength: number;
}

/**
 * Counts the text without rendering it, because the text may be huge: 19,000 times `{{a}}` with a value of 10,000
 * characters would be 190 million.
 */
function promptLength(parts: PromptParts): number {
  const { instructions, variables, builtIns, skills, resultSchema, resultKey, factsLength } = parts;
  const sections = skills.map((skill) => sectionLength(skill) + 2);
  // Always count the state blocks of skills, so that every saved text can also run.
  if (skills.length > 0) sections.push(STATE_SECTION.length + 2);
  const form = resultSchema === null ? 0 : resultSection({ schema: resultSchema, key: resultKey }).length + 2;
  return filledLength(instructions, variables, builtIns) + sum(sections) + form + factsLength;
}

/** Returns the characters left for a run's text; undefined when the text or the variables exceed their limits. */
export function promptRoom(parts: PromptParts): number | undefined {
  if (variablesLength(parts.variables) > MAX_VARIABLES_LENGTH) return undefined;
  const room = MAX_PROMPT_LENGTH - promptLength(parts);
  return room < 0 ? undefined : room;
}

/** Refuses a routine whose text would be too large. @throws {AppError} `invalid_request` that names the field */
export function checkTextLimits(parts: PromptParts): void {
  if (variablesLength(parts.variables) > MAX_VARIABLES_LENGTH) {
    const message = `the values are longer than ${MAX_VARIABLES_LENGTH} characters together`;
    throw invalid([{ path: 'variables', message }]);
  }
  const { instructions, variables, builtIns } = parts;
  const whole = promptLength(parts);
  if (whole <= MAX_PROMPT_LENGTH) return;
  const alone = filledLength(instructions, variables, builtIns);
  const path = alone > MAX_PROMPT_LENGTH ? 'instructions' : 'skills';
  const message = `instructions, skills, facts and resultSchema together have ${whole} characters when rendered; at most ${MAX_PROMPT_LENGTH} are allowed`;
  throw invalid([{ path, message }]);
}

function variablesLength(variables: Readonly<Record<string, string>>): number {
  return sum(Object.values(variables).map((value) => value.length));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
