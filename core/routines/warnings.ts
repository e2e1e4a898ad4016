import { unmetNeeds, type Need, type SkillCatalogue } from '#core/skills/index.ts';
import type { HintedTool } from '#core/tools/index.ts';
import { mixingIn } from './mixing.ts';
import type { Routine } from './routine.ts';

/** Lists possible faults of a routine that do not keep it from being saved or run. */
export const WARNING_CODES = [
  'skill_need_unmet',
  'forecast_over_budget',
  'mixes_untrusted_and_outward',
] as const;

export interface RoutineWarning {
  readonly code: (typeof WARNING_CODES)[number];
  /** The reference of the skill, where the warning is of one. */
  readonly skill?: string;
  readonly need?: Need;
  readonly message: string;
}

/**
 * Warns of each skill that works on something which none of the routine's tools seems to offer, and of a routine that
 * reads what strangers write and acts elsewhere.
 */
export function warningsOf(
  catalogue: SkillCatalogue,
  routine: Pick<Routine, 'skills' | 'gate' | 'instructions'>,
  tools: readonly HintedTool[],
): RoutineWarning[] {
  const attached = routine.skills.flatMap((reference) => catalogue.find(reference) ?? []);
  const hints = tools
    .filter(({ connectionId }) => connectionId !== null)
    .map(({ toolName, description, connectionName }) => ({
      name: toolName,
      description,
      connection: connectionName,
    }));
  const unmet = unmetNeeds(attached, hints).map(({ slug, need }) => ({
    code: 'skill_need_unmet' as const,
    skill: slug,
    need,
    message: `${slug} works on ${need} data, and no tool that the routine may call seems to offer it. Confirm one that does, or give the data in the instructions.`,
  }));
  const mixing = mixingIn(routine, tools);
  return mixing === undefined
    ? unmet
    : [...unmet, { code: 'mixes_untrusted_and_outward', message: mixing }];
}
