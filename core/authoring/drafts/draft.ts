import { checkTimeZone, nextStarts } from '#core/foundation/timetable/index.ts';
import type { ProjectTool } from '#core/integrations/tools/index.ts';
import type { ModelReference } from '#core/models/directory/index.ts';
import type { Need } from '#core/authoring/skills/index.ts';
import { databaseTime, type Database } from '#lib/database/index.ts';
import { readSchedulePhrase, scheduleInWords, type PhraseReading } from '#lib/schedule/index.ts';
import { capitalized, cut, withoutUnseen } from '#lib/text.ts';
import { askModel, type AskDeps, type ModelDraft, type Where } from './ask-model.ts';
import { fillBlueprint, type Blueprint } from './blueprints.ts';
import { lookUp, missingNeeds, toolId, type LookUpDeps, type Named } from './look-up.ts';
import type { DraftedFields, OwnLists } from './response.ts';
import { bestMatches, contentWords } from './words.ts';

/** The fields of a routine that a draft proposes, in the form of a request that creates a routine. */
export interface DraftDefinition {
  readonly name: string;
  readonly instructions: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Five cron fields; null if the sentence names no time, or a time with several meanings. */
  readonly schedule: string | null;
  readonly timezone: string;
  /** Model of the routine; null if the project has no model. */
  readonly model: ModelReference | null;
  readonly skills: readonly string[];
}

/** How a draft was made: by a model, by the words of the sentence alone, or from a blueprint. */
export const DRAFT_SOURCES = ['model', 'words', 'blueprint'] as const;

export interface Draft {
  readonly madeBy: (typeof DRAFT_SOURCES)[number];
  readonly definition: DraftDefinition;
  readonly assumptions: readonly string[];
  readonly questions: readonly string[];
  readonly nextRuns: readonly Date[];
  readonly missing: {
    /** Kinds of data that no known tool of the project seems to offer. */
    readonly connections: readonly Need[];
    /** Tools to confirm once the routine is saved. */
    readonly tools: readonly Pick<ProjectTool, 'connectionId' | 'connectionName' | 'toolName'>[];
  };
  /** Blueprints that fit the words of the sentence. */
  readonly blueprints: readonly Named[];
  /** Routines of the project that seem to do something similar. */
  readonly similar: readonly Named[];
  /** Usage of the requests to the model; null if no model was asked. */
  readonly spent: ModelDraft['spent'];
}

export interface DraftDeps extends AskDeps, LookUpDeps {
  readonly database: Database;
  readonly blueprints: readonly Blueprint[];
}

export interface RoutineIdea extends Where {
  readonly timezone: string;
  /** A sentence, or a blueprint with the values of its slots. */
  readonly from:
    | { readonly sentence: string }
    | { readonly blueprint: string; readonly values: Readonly<Record<string, string>> };
}

/**
 * Drafts a routine and saves nothing. Code reads the times; a model writes the rest, under a strict schema and with the
 * lists of the project. If two attempts of a model fail, the words of the sentence are matched instead.
 * @throws {AppError} `invalid_timezone`, `invalid_request`, `rate_limited`, `allowance_exceeded`
 */
export async function draftRoutine(deps: DraftDeps, { from, timezone, ...where }: RoutineIdea): Promise<Draft> {
  checkTimeZone(timezone);
  const found = await lookUp(deps, where.projectId);
  const now = await databaseTime(deps.database);
  const complete = (draft: Pick<Draft, 'madeBy' | 'assumptions' | 'questions' | 'spent'> & Chosen): Draft => {
    const { name, instructions, variables = {}, schedule, skills, needs, tools, sentence, ...rest } = draft;
    const words = contentWords(sentence);
    const timing = { id: 'draft', schedule: schedule ?? '', timezone, startsAt: null, endsAt: null, skipDates: [] };
    return {
      ...rest,
      questions: draft.questions.slice(0, MAX_QUESTIONS),
      definition: { name, instructions, variables, schedule, timezone, model: found.model, skills },
      nextRuns: schedule === null ? [] : nextStarts({ ...timing, jitterSeconds: 0 }, now, 5),
      missing: { connections: missingNeeds(found, skills, needs), tools },
      blueprints: bestMatches(words, deps.blueprints, (each) => ({ name: each.name, description: each.promise }))
        .slice(0, 3)
        .map(({ id, name: title }) => ({ id, name: title })),
      similar: bestMatches(words, found.routines, (each) => ({ ...each, description: '' })).slice(0, 3),
    };
  };
  if ('blueprint' in from) {
    const { blueprint, variables } = fillBlueprint(deps.blueprints, from.blueprint, from.values);
    const sentence = `${blueprint.name} ${Object.values(variables).join(' ')}`;
    return complete({ madeBy: 'blueprint', ...blueprint, variables, tools: [], sentence, ...NOTHING_ASKED });
  }
  const { sentence } = from;
  const reading = readSchedulePhrase(sentence);
  const { drafted, spent } = await askModel(deps, where, { sentence, found });
  const when = reading.kind === 'none' && drafted !== undefined ? readSchedulePhrase(drafted.when) : reading;
  const schedule = when.kind === 'read' ? when.schedule : null;
  const plain = byWords(sentence, reading, found.lists);
  const made = drafted ?? plain;
  const words = contentWords(plain.instructions);
  return complete({
    madeBy: drafted === undefined ? 'words' : 'model',
    // Replace a name that shares no word with the task, because it says nothing about the task.
    name: [...contentWords(made.name)].some((word) => words.has(word)) ? made.name : plain.name,
    instructions: made.instructions,
    skills: made.skills,
    needs: [],
    schedule,
    sentence,
    tools: found.tools.filter((_, at) => made.tools.includes(toolId(at))),
    assumptions: [...assumptionsOf(when, timezone), ...made.assumptions],
    questions: [...whenAsked(when), ...made.questions],
    spent,
  });
}

/** The part of a draft that a model, the words of the sentence or a blueprint decides. */
interface Chosen {
  readonly name: string;
  readonly instructions: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly schedule: string | null;
  readonly skills: readonly string[];
  readonly needs: readonly Need[];
  readonly tools: Draft['missing']['tools'];
  /** Text whose words are compared with blueprints and routines. */
  readonly sentence: string;
}

const NOTHING_ASKED = { assumptions: [], questions: [], spent: null } as const;
const MAX_QUESTIONS = 3;

function assumptionsOf(when: PhraseReading, timezone: string): string[] {
  if (when.kind !== 'read') return [];
  return [`“${when.phrase}” means: ${scheduleInWords(when.schedule).toLowerCase()}, on the clock of ${timezone}.`];
}

function whenAsked(when: PhraseReading): string[] {
  if (when.kind === 'read') return [];
  const why = when.kind === 'none' ? '' : ` “${when.phrase}” ${when.why}.`;
  return [`When shall it run?${why}`];
}

/** Makes a draft without a model, from the words of the sentence and the skill that fits them best. */
function byWords(sentence: string, reading: PhraseReading, { skills }: OwnLists): DraftedFields {
  const phrase = reading.kind === 'read' ? reading.phrase : '';
  // Replace double braces by single braces, because a placeholder would need a value.
  const whole = withoutUnseen(sentence)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\{\{+|\}\}+/g, (braces) => braces.charAt(0))
    .trim();
  const task = whole
    .replace(phrase, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s,.;:]+|[\s,;:]+$/g, '');
  const title = task.split(/[.!?;:](?:\s|$)/)[0]?.trim() || whole;
  const [skill] = bestMatches(contentWords(task), skills, (each) => each);
  const about = skill && contentWords(skill.name);
  const fits = about !== undefined && [...contentWords(task)].filter((word) => about.has(word)).length > 0;
  const name = title.length > 60 ? `${cut(title, 59).replace(/\s+\S*$/, '')}…` : title;
  return {
    name: capitalized(name),
    instructions: task.length < 3 ? whole : capitalized(task),
    skills: fits && skill !== undefined ? [skill.reference] : [],
    tools: [],
    when: '',
    assumptions: [
      'No model drafted this: time, skills and blueprints were matched by words, and the instructions are the sentence.',
    ],
    questions: [],
  };
}
