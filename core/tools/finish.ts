import { isJsonObject, type JsonObject } from '#lib/json.ts';

/** Lists the outcomes that a model can state. A run that could not do its work fails; the others succeed. */
export const STATED_OUTCOMES = ['done', 'nothing_to_report', 'partial', 'could_not'] as const;
export type StatedOutcome = (typeof STATED_OUTCOMES)[number];

/** Names the tool by which a run states its outcome. No call of it is carried out: it ends the run, or is refused. */
export const FINISH = 'finish';

/** The fields of a routine that decide what `finish` asks for. */
export interface FinishRule {
  readonly outcome: string;
  /** JSON Schema of the result; null where it is any text. */
  readonly resultSchema: JsonObject | null;
}

/** Returns the definition of `finish`: it takes the outcome where one is required, and the result where it has a form. */
export function finishTool({ outcome, resultSchema }: FinishRule): {
  readonly description: string;
  readonly inputSchema: JsonObject;
} {
  const states = outcome === 'required';
  const form = withoutDialect(resultSchema ?? {});
  const result = { result: movedRefs(form, '#/properties/result') };
  return {
    description: [
      resultSchema === null ? ENDS_WITH_TEXT : ENDS_WITH_RESULT,
      ...(states ? OUTCOMES_IN_WORDS : []),
    ].join(' '),
    inputSchema: {
      type: 'object',
      properties: {
        ...(states ? OUTCOME_PROPERTIES : {}),
        ...(resultSchema === null ? {} : result),
      },
      // A run with nothing to report has no result.
      required: states ? Object.keys(OUTCOME_PROPERTIES) : ['result'],
      additionalProperties: false,
    },
  };
}

const ENDS_WITH_TEXT =
  'Ends the run and states its outcome. Call it once, by itself, as the last thing you do, in the message whose text is the result.';
const ENDS_WITH_RESULT =
  'Ends the run with its result, in the form that is asked for. Call it once, by itself, as the last thing you do.';
const OUTCOMES_IN_WORDS = [
  'done: the work was done and the result reports it.',
  'nothing_to_report: the work was done in full, and nothing was found that is worth reporting.',
  'partial: a part of the work could not be done, and the result says which.',
  'could_not: the work could not be done; the run then counts as failed.',
  'Not having been able to look is never nothing_to_report.',
];

const OUTCOME_PROPERTIES = {
  outcome: { type: 'string', enum: STATED_OUTCOMES },
  summary: {
    type: 'string',
    minLength: 1,
    description: 'One to three sentences: what was done, and what came of it.',
  },
};

/** Leaves out the name of a schema's dialect, for which Gemini refuses the whole request. */
export function withoutDialect(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([name]) => name !== '$schema'));
}

/** Rewrites the references within a schema that is moved into another one. */
function movedRefs(value: unknown, root: string): unknown {
  if (Array.isArray(value)) return value.map((each) => movedRefs(each, root));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === '$ref' && typeof each === 'string' && each.startsWith('#')
        ? `${root}${each.slice(1)}`
        : movedRefs(each, root),
    ]),
  );
}
