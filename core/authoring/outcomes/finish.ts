import type { ModelMessage } from 'ai';
import { z } from 'zod';
import type { OutcomeRule } from '#core/authoring/definition/index.ts';
import { FINISH, STATED_OUTCOMES, URGENCIES } from '#core/integrations/tools/index.ts';
import { isJsonObject } from '#lib/json.ts';
import type { Urgency } from './checks.ts';

/** Requests of a run about later runs. */
export interface NextRuns {
  /** True if no run should follow. */
  readonly final: boolean;
  /** Instant before which no run is worthwhile; null if the run names none. */
  readonly notBefore: Date | null;
}

/** The fields of a routine that decide which arguments `finish` takes. */
export interface EndRule {
  readonly outcomeRule: OutcomeRule;
  readonly mayComplete: boolean;
  readonly mayPutOffHours: number | null;
}

interface Call {
  readonly name: string;
  readonly input: unknown;
  /** True when the arguments could not be read. The model gets an error for such a call. */
  readonly invalid: boolean;
}

/** A response's statement about the end of its run. */
export type Finish =
  | {
      readonly kind: 'stated';
      /** The stated outcome; undefined if the routine requires none. */
      readonly outcome: (typeof STATED_OUTCOMES)[number] | undefined;
      readonly summary: string;
      /**
       * The stated urgency; undefined if there is none. An unknown urgency is dropped, because no result is refused for
       * its urgency.
       */
      readonly urgency: Urgency | undefined;
      /** JSON text of the result; null when the call has none. */
      readonly result: string | null;
      readonly next?: NextRuns | undefined;
    }
  /** The reason why no call of `finish` in the response counts; the run then continues. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'absent' };

/** Tells whether a response ends the run: it must call `finish` alone and once, with everything that is required. */
export function readFinish(calls: readonly Call[], rule: EndRule, now = new Date()): Finish {
  const finish = calls.find(({ name, invalid }) => name === FINISH && !invalid);
  if (finish === undefined) return { kind: 'absent' };
  if (calls.some(({ name }) => name !== FINISH)) return { kind: 'refused', why: WITH_OTHERS };
  if (calls.length > 1) return { kind: 'refused', why: TWICE };
  return readInput(finish.input, rule, now);
}

const WITH_OTHERS = 'the response asks for other tools too; look at what they return, then call finish by itself';
const TWICE = 'finish was called more than once; call it once, with one outcome';

function readInput(input: unknown, rule: EndRule, now: Date): Finish {
  const { outcome, summary, urgency: word, result, final, nextNotBefore } = isJsonObject(input) ? input : {};
  if (rule.outcomeRule !== 'required') {
    const text = result === undefined ? null : jsonText(result);
    return { kind: 'stated', outcome: undefined, summary: '', urgency: undefined, result: text };
  }
  const stated = STATED_OUTCOMES.find((each) => each === outcome);
  if (stated === undefined) return { kind: 'refused', why: `outcome must be one of ${STATED_OUTCOMES.join(', ')}` };
  if (typeof summary !== 'string' || summary.trim() === '') {
    return { kind: 'refused', why: 'summary must say in one to three sentences what came of it' };
  }
  const next = readNext({ final, nextNotBefore }, rule, now);
  if (typeof next === 'string') return { kind: 'refused', why: next };
  const text = result === undefined ? null : jsonText(result);
  const urgency = URGENCIES.find((each) => each === word);
  return { kind: 'stated', outcome: stated, summary: summary.trim(), urgency, result: text, next };
}

const HOUR_MS = 3_600_000;

/**
 * Reads the requests of a run to later runs.
 * @returns undefined if there are none; the reason as a text if they are refused
 */
function readNext(
  { final: asked, nextNotBefore = null }: Readonly<Record<'final' | 'nextNotBefore', unknown>>,
  { mayComplete, mayPutOffHours }: EndRule,
  now: Date,
): NextRuns | string | undefined {
  // Read null as an argument left out: servers with strict schemas make models write null for such arguments.
  const final = asked ?? false;
  if (final === false && nextNotBefore === null) return undefined;
  if (typeof final !== 'boolean') return 'final must be true or false';
  if (final && !mayComplete) return 'this routine does not take final; call finish without it';
  if (nextNotBefore === null) return { final, notBefore: null };
  if (mayPutOffHours === null) return 'this routine does not take nextNotBefore; call finish without it';
  const { data: instant } = INSTANT.safeParse(nextNotBefore);
  const notBefore = instant === undefined ? null : new Date(instant);
  const latest = new Date(now.getTime() + mayPutOffHours * HOUR_MS);
  if (notBefore === null || !(notBefore > now) || notBefore > latest) {
    return `nextNotBefore must be an instant with its zone, after now and not after ${latest.toISOString()}`;
  }
  return { final, notBefore };
}

const INSTANT = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/i)
  // Check the date separately, because `Date` reads 31 November as 1 December.
  .refine((text) => z.iso.date().safeParse(text.slice(0, 10)).success);

/** Returns the result as JSON text. A model often sends its result as JSON text already. */
function jsonText(result: unknown): string {
  if (typeof result !== 'string') return JSON.stringify(result, null, 2);
  try {
    JSON.parse(result);
    return result;
  } catch {
    return JSON.stringify(result);
  }
}

/** Reminds a model, once, to state its outcome. The reminder is part of the stored transcript. */
export const REMINDER = {
  role: 'user',
  content: [
    `You ended without calling \`${FINISH}\`, which this routine requires.`,
    'Call it now, by itself, with the outcome and a summary.',
    'Your last message is kept as the result; write text beside the call only to replace it.',
    'Without the call this run counts as failed.',
  ].join(' '),
} as const satisfies ModelMessage;

function reminderIn(transcript: readonly ModelMessage[]): number {
  return transcript.findIndex(({ role, content }) => role === REMINDER.role && content === REMINDER.content);
}

export function wasReminded(transcript: readonly ModelMessage[]): boolean {
  return reminderIn(transcript) !== -1;
}

/** Returns the text before the reminder, which the model wrote as the result; null without a text. */
export function textBeforeReminder(transcript: readonly ModelMessage[]): string | null {
  const message = transcript[reminderIn(transcript) - 1];
  const text = message === undefined ? '' : textOf(message);
  return text.trim() === '' ? null : text;
}

function textOf({ content }: ModelMessage): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
