import { z } from 'zod';
import { withoutUnseen } from '#lib/text.ts';

/** Tool by which a run asks people a question. The run continues; a later run gets the answer. */
export const ASK = 'ask';

const QUESTION_LENGTH = 1_000;
const CHOICE_LENGTH = 200;
const MOST_CHOICES = 8;

/** A question of the model, in the text that people see. */
export interface AskedQuestion {
  readonly question: string;
  /** The permitted answers; null if any text may be the answer. */
  readonly choices: readonly string[] | null;
  /** The answer that counts until a person gives another answer; null for none. */
  readonly defaultAnswer: string | null;
}

const input = z.strictObject({
  question: visibleText(QUESTION_LENGTH),
  choices: z
    .array(visibleText(CHOICE_LENGTH))
    .min(2)
    .max(MOST_CHOICES)
    .refine((choices) => new Set(choices).size === choices.length, 'the same choice twice')
    .optional(),
  default: visibleText(QUESTION_LENGTH).optional(),
});

/** Reads the arguments of a call of `ask`. @returns a text with the fault if they cannot be used */
export function readAsk(args: unknown): AskedQuestion | string {
  const read = input.safeParse(args);
  if (!read.success) {
    const [issue] = read.error.issues;
    return `${issue?.path.join('.') || 'the arguments'}: ${issue?.message ?? 'not usable'}`;
  }
  const { question, choices = null, default: defaultAnswer = null } = read.data;
  if (choices !== null && defaultAnswer !== null && !choices.includes(defaultAnswer)) {
    return 'default: has to be one of the choices';
  }
  return { question, choices, defaultAnswer };
}

function visibleText(most: number) {
  return z
    .string()
    .transform((text) => withoutUnseen(text).trim())
    .pipe(z.string().min(1).max(most));
}

export const askDefinition = {
  description:
    'Asks the people of this routine a question that only they can decide. No one answers during this run: the question is put on record, you go on with your default or without an answer, and a later run is told the answer. Ask only for what changes the work, once, and never for what is answered already.',
  inputSchema: {
    type: 'object',
    properties: {
      question: {
        type: 'string',
        minLength: 1,
        maxLength: QUESTION_LENGTH,
        description: 'One question that can be understood without this run.',
      },
      choices: {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: CHOICE_LENGTH },
        minItems: 2,
        maxItems: MOST_CHOICES,
        description: 'The possible answers, where there are few.',
      },
      default: {
        type: 'string',
        minLength: 1,
        maxLength: QUESTION_LENGTH,
        description: 'The answer that you go on with now; with choices, one of them.',
      },
    },
    required: ['question'],
    additionalProperties: false,
  },
} as const;
