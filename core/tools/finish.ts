import type { JsonObject } from '#lib/json.ts';

/** Lists the outcomes that a model can state. A run that could not do its work fails; the others succeed. */
export const STATED_OUTCOMES = ['done', 'nothing_to_report', 'partial', 'could_not'] as const;
export type StatedOutcome = (typeof STATED_OUTCOMES)[number];

/** Names the tool by which a run states its outcome. No call of it is carried out: it ends the run, or is refused. */
export const FINISH = 'finish';

export const finishTool: { readonly description: string; readonly inputSchema: JsonObject } = {
  description: [
    'Ends the run and states its outcome. Call it once, by itself, as the last thing you do, in the message whose text is the result.',
    'done: the work was done and the result reports it.',
    'nothing_to_report: the work was done in full, and nothing was found that is worth reporting.',
    'partial: a part of the work could not be done, and the result says which.',
    'could_not: the work could not be done; the run then counts as failed.',
    'Not having been able to look is never nothing_to_report.',
  ].join(' '),
  inputSchema: {
    type: 'object',
    properties: {
      outcome: { type: 'string', enum: STATED_OUTCOMES },
      summary: {
        type: 'string',
        minLength: 1,
        description: 'One to three sentences: what was done, and what came of it.',
      },
    },
    required: ['outcome', 'summary'],
    additionalProperties: false,
  },
};
