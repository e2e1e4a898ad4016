import { missingSkills, unmetNeeds, type Need, type SkillCatalogue } from '#core/skills/index.ts';
import type { HintedTool } from '#core/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { mixingIn } from './mixing.ts';
import type { Routine } from './routine.ts';

/** Lists possible faults of a routine that do not keep it from being saved or run. */
export const WARNING_CODES = [
  'skill_need_unmet',
  'skill_deleted',
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
 * Warns of each skill that is gone or works on something which none of the routine's tools seems to offer, and of a
 * routine that reads what strangers write and acts elsewhere.
 */
export async function warningsOf(
  db: Db,
  catalogue: SkillCatalogue,
  routine: Pick<Routine, 'projectId' | 'skills' | 'gate' | 'instructions'>,
  tools: readonly HintedTool[],
): Promise<RoutineWarning[]> {
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
  const missing = await missingSkills(db, catalogue, routine.projectId, routine.skills);
  const gone = missing.map((skill) => ({
    code: 'skill_deleted' as const,
    skill,
    message: `The skill ${skill} was deleted, so runs leave it out. Take it off the routine, or attach another one.`,
  }));
  const mixing = mixingIn(routine, tools);
  return [
    ...gone,
    ...unmet,
    ...(mixing === undefined
      ? []
      : [{ code: 'mixes_untrusted_and_outward' as const, message: mixing }]),
  ];
}
