import { readContentDays, type RetentionRule } from '#core/identity/index.ts';
import { missingSkills, unmetNeeds, type Need, type SkillCatalogue } from '#core/skills/index.ts';
import type { HintedTool } from '#core/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { mixingIn } from './mixing.ts';
import { nextStarts } from './next-times.ts';
import type { Routine } from './routine.ts';

/** Lists possible faults of a routine that do not keep it from being saved or run. */
export const WARNING_CODES = [
  'skill_need_unmet',
  'skill_deleted',
  'forecast_over_budget',
  'mixes_untrusted_and_outward',
  'interval_beyond_retention',
] as const;

export interface RoutineWarning {
  readonly code: (typeof WARNING_CODES)[number];
  /** The reference of the skill, where the warning is of one. */
  readonly skill?: string;
  readonly need?: Need;
  readonly message: string;
}

export interface WarningDeps {
  readonly skills: SkillCatalogue;
  readonly retention: RetentionRule;
}

/**
 * Warns of each skill that is gone or works on something which none of the routine's tools seems to offer, and of a
 * routine that reads what strangers write and acts elsewhere, or compares with a run that has lost its content.
 */
export async function warningsOf(
  db: Db,
  { skills: catalogue, retention }: WarningDeps,
  routine: Routine,
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
    ...(await intervalBeyondRetention(db, retention, routine)),
  ];
}

/** Occurrences from which the longest interval of a schedule is taken. */
const LOOKED_AT = 6;

/** Warns of a schedule at whose next occurrence the run before, which is compared with, has lost its content. */
async function intervalBeyondRetention(
  db: Db,
  rule: RetentionRule,
  routine: Routine,
): Promise<RoutineWarning[]> {
  const { carryResult, resultSchema, instructions, projectId } = routine;
  const compares = carryResult || resultSchema !== null || /\bprevious\./.test(instructions);
  if (!compares) return [];
  const starts = nextStarts(routine, new Date(), LOOKED_AT);
  const gaps = starts.map(
    (start, index) => start.getTime() - (starts[index - 1] ?? start).getTime(),
  );
  const days = Math.ceil(Math.max(0, ...gaps) / 86_400_000);
  // Few schedules have such an interval, whatever their project has chosen.
  if (days <= 1) return [];
  const kept = await readContentDays(db, rule, projectId);
  if (days < kept) return [];
  const message = `Up to ${days} days lie between two runs, and the content of a run is kept for ${kept}: a run is told nothing of the one before, and its data is compared with nothing. Keep it longer (runContentDays of the project, RUN_CONTENT_DAYS of the service), or pin the latest run.`;
  return [{ code: 'interval_beyond_retention', message }];
}
