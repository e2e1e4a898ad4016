import { readFacts } from '#core/authoring/facts/index.ts';
import { contentDaysOfAll, type RetentionRule } from '#core/accounts/settings/index.ts';
import { missingSkills, unmetNeeds, type Need, type SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { HintedTool } from '#core/integrations/tools/index.ts';
import { now } from '#lib/clock.ts';
import type { Db } from '#lib/database/index.ts';
import { asksFor } from '#core/authoring/definition/index.ts';
import { nextStarts, TIMING_WARNINGS, timingWarnings } from '#core/foundation/timetable/index.ts';
import type { ProvenRoutine } from './queries.ts';
import type { Routine } from './routine.ts';

/** Lists possible faults of a routine that do not keep it from being saved or run. */
export const WARNING_CODES = [
  'skill_need_unmet',
  'skill_deleted',
  'facts_missing',
  'forecast_over_budget',
  'mixes_untrusted_and_outward',
  'interval_beyond_retention',
  ...TIMING_WARNINGS,
] as const;

export interface RoutineWarning {
  readonly code: (typeof WARNING_CODES)[number];
  /** Reference of the skill that the warning is about. */
  readonly skill?: string;
  readonly need?: Need;
  readonly message: string;
}

export interface WarningDeps {
  readonly skills: SkillCatalogue;
  readonly retention: RetentionRule;
}

/**
 * Warns about deleted skills, skills without the data that they need, missing facts, tools that together let strangers
 * act through a routine, comparisons with a run that has lost its content, and odd schedules.
 */
export async function routineWarnings(
  db: Db,
  { skills: catalogue, retention }: WarningDeps,
  routine: Routine & Pick<ProvenRoutine, 'callableTools' | 'chosenContentDays'>,
): Promise<RoutineWarning[]> {
  const tools = routine.callableTools;
  const attached = routine.skills.flatMap((reference) => catalogue.find(reference) ?? []);
  const hints = tools
    .filter(({ connectionId }) => connectionId !== null)
    .map(({ toolName: name, description, connectionName: connection }) => ({ name, description, connection }));
  const unmet = unmetNeeds(attached, hints).map(({ slug, need }) => ({
    code: 'skill_need_unmet' as const,
    skill: slug,
    need,
    message: `${slug} works on ${need} data, and no tool that the routine may call seems to offer it. Confirm a tool that offers it, or write the data into the instructions.`,
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
    ...(await factsMissing(db, routine)),
    ...(mixing === undefined ? [] : [{ code: 'mixes_untrusted_and_outward' as const, message: mixing }]),
    ...intervalBeyondRetention(retention, routine),
    ...timingWarnings(routine, new Date(now())),
  ];
}

async function factsMissing(db: Db, { facts, projectId }: Routine): Promise<RoutineWarning[]> {
  if (!facts || (await readFacts(db, projectId)).text.trim() !== '') return [];
  const message = 'The project has no facts yet, so runs get none. Write them under Settings › Facts.';
  return [{ code: 'facts_missing', message }];
}

/** Number of occurrences that are searched for the longest interval of a schedule. */
const LOOKED_AT = 6;

/** Warns when runs are further apart than content is kept, so that nothing is left to compare with. */
function intervalBeyondRetention(
  rule: RetentionRule,
  routine: Routine & Pick<ProvenRoutine, 'chosenContentDays'>,
): RoutineWarning[] {
  const { carryResult, resultSchema, instructions, chosenContentDays } = routine;
  const compares = carryResult || resultSchema !== null || /\bprevious\./.test(instructions);
  if (!compares) return [];
  const starts = nextStarts(routine, new Date(now()), LOOKED_AT);
  const gaps = starts.map((start, index) => start.getTime() - (starts[index - 1] ?? start).getTime());
  const days = Math.ceil(Math.max(0, ...gaps) / 86_400_000);
  const kept = Math.min(contentDaysOfAll(rule), chosenContentDays ?? Infinity);
  if (days <= 1 || days < kept) return [];
  const message = `Up to ${days} days lie between two runs, and the content of a run is kept for ${kept}: a run gets nothing of the run before, and has no data to compare with. Keep the content longer (runContentDays of the project, RUN_CONTENT_DAYS of the service), or pin the latest run.`;
  return [{ code: 'interval_beyond_retention', message }];
}

/** A tool that is or will be confirmed, with the fields that warnings use. */
export type KnownTool = Pick<HintedTool, 'policyId' | 'toolName' | 'hints'> & {
  readonly connectionId: string | null;
  readonly connectionName: string | null;
};

/** A source of text that strangers may have written, or a tool that changes something. */
interface End {
  readonly inWords: string;
  readonly policyId: string | null;
  readonly connectionId: string | null;
}

/**
 * Warns when a routine both reads text of strangers and can send or change something: the text may ask the model to do
 * so.
 * @param about policy of a tool that must be part of the pair; if left out, any pair counts
 */
export function mixingIn(
  routine: Pick<Routine, 'gate' | 'instructions'>,
  tools: readonly KnownTool[],
  about?: string,
): string | undefined {
  const acting = tools.filter(acts).map(endOf);
  for (const source of [...gateOf(routine), ...tools.filter(readsStrangers).map(endOf)]) {
    const target = acting.find(
      ({ connectionId, policyId }) =>
        connectionId !== source.connectionId && (about === undefined || [policyId, source.policyId].includes(about)),
    );
    if (target === undefined) continue;
    return `Its runs read text that strangers may write (${source.inWords}), and can send or change something elsewhere unasked (${target.inWords}). A text may talk a run into that. Narrow the arguments that the tool may be called with, or let two routines do it.`;
  }
  return undefined;
}

function endOf({ toolName, connectionName, connectionId, policyId }: KnownTool): End {
  const of = connectionName === null ? '' : ` of ${connectionName}`;
  return { inWords: `"${toolName}"${of}`, connectionId, policyId };
}

function gateOf({ gate, instructions }: Pick<Routine, 'gate' | 'instructions'>): End[] {
  if (gate?.url == null || !asksFor(instructions, 'gate.value')) return [];
  return [{ inWords: `its gate at ${new URL(gate.url).host}`, policyId: null, connectionId: null }];
}

/** Tells whether a tool may read text of strangers: by its `openWorld` hint or, without the hint, by its name. */
function readsStrangers({ toolName, hints, connectionId }: KnownTool): boolean {
  if (connectionId === null || !reads({ toolName, hints })) return false;
  if (typeof hints.openWorld === 'boolean') return hints.openWorld;
  return wordsOf(toolName).some((word) => OF_STRANGERS.has(word));
}

/** Tells whether a tool can send or change something. A tool that only adds, in a closed world, does not count. */
function acts({ toolName, hints, connectionId }: KnownTool): boolean {
  if (connectionId === null || reads({ toolName, hints })) return false;
  return hints.openWorld !== false || hints.destructive !== false;
}

function reads({ toolName, hints }: Pick<KnownTool, 'toolName' | 'hints'>): boolean {
  const { readOnly, destructive } = hints;
  if (typeof readOnly === 'boolean') return readOnly && destructive !== true;
  if (typeof destructive === 'boolean') return false;
  const verbs = wordsOf(toolName).filter((word) => VERBS.has(word));
  return verbs.length > 0 && verbs.every((verb) => READING.has(verb));
}

const READING = new Set(
  'get list read search fetch find browse query lookup retrieve crawl scrape view describe'.split(' '),
);
const VERBS = new Set([
  ...READING,
  ...'send post create update delete remove add write set move reply publish upload merge close'.split(' '),
]);

/** Words in the names of tools that read texts from strangers. */
const OF_STRANGERS = new Set(
  'web website websites webpage url browse browser crawl scrape rss feed news mail email emails inbox message messages conversation conversations comment comments review reviews issue issues ticket tickets thread threads forum feedback survey'.split(
    ' ',
  ),
);

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}
