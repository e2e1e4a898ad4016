import {
  asksFor,
  fillPlaceholders,
  promptRoom,
  resultSection,
  type ResultForm,
} from '#core/routines/index.ts';
import { skillSection, type AttachedSkill } from '#core/skills/index.ts';
import { fence } from './fence.ts';
import { renderBriefing, type BriefingInput } from './briefing.ts';
import { previousText, wordsOnPrevious } from './carried-result.ts';
import { gateText, wordsOnGate } from './gate-words.ts';
import type { GateVerdict } from '#core/gate/index.ts';
import { localDate } from './local-time.ts';
import type { Opening } from './opening.ts';
import type { PreviousRun } from './previous-run.ts';
import { jsonText, type PreviousData } from './previous-data.ts';

export interface PromptInput extends BriefingInput {
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly fencedVariables: readonly string[];
  readonly skills: readonly Pick<AttachedSkill, 'name' | 'instructions'>[];
  readonly routineName: string;
  readonly runId: string;
  readonly carryResult: boolean;
  readonly previous: PreviousRun | undefined;
  readonly gateVerdict?: GateVerdict | null;
  readonly previousData: PreviousData | null;
  readonly resultForm: ResultForm | null;
}

/**
 * Renders the text for the model: the routine's own instructions with their placeholders filled, then each skill
 * verbatim under its heading, in the routine's order, then the form of the result; and the briefing.
 * @returns undefined when the text would be too large
 */
export function renderPrompt(input: PromptInput): Opening | undefined {
  const { instructions, carryResult, previous, gateVerdict = null } = input;
  const variables = { ...input.variables, ...fencedValues(input) };
  const { previousData, resultForm } = input;
  const builtIns = {
    now: input.startedAt.toISOString(),
    date: localDate(input.startedAt, input.timezone),
    'routine.name': input.routineName,
    'run.id': input.runId,
    // What a person starts stands for the time that it was asked for, or else for its own.
    scheduledFor: (input.scheduledFor ?? input.runAt ?? input.startedAt).toISOString(),
    'previous.result': previousText(previous),
    'previous.finishedAt': previous?.finishedAt.toISOString() ?? '',
    'gate.value': gateText(gateVerdict),
    'previous.data': jsonText('The previous data', previousData?.data),
    'previous.changes': jsonText('What had changed before', previousData?.changes),
  };
  const sizes = input.skills.map((skill) => ({
    name: skill.name,
    length: skill.instructions.length,
  }));
  const form = { resultSchema: resultForm?.schema ?? null, resultKey: resultForm?.key ?? null };
  const room = promptRoom({ instructions, variables, builtIns, skills: sizes, ...form });
  if (room === undefined) return undefined;
  const sections = [
    ...input.skills.map((skill) => skillSection(skill)),
    ...(resultForm === null ? [] : [resultSection(resultForm)]),
  ];
  const inInstructions = asksFor(instructions, 'previous.result');
  return {
    prompt: [fillPlaceholders(instructions, variables, builtIns), ...sections].join('\n\n'),
    briefing: renderBriefing(
      gateVerdict === null ? input : { ...input, gateWords: wordsOnGate(gateVerdict) },
      wordsOnPrevious(previous, { carryResult, inInstructions, room }),
    ),
  };
}

/** Fences values that were given by a caller who may not write instructions. */
function fencedValues({ variables, fencedVariables }: PromptInput): Record<string, string> {
  return Object.fromEntries(
    fencedVariables.map((name) => [
      name,
      fence(`The value of ${name}, given for this run,`, variables[name] ?? ''),
    ]),
  );
}
