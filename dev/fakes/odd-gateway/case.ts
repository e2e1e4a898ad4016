import type { z } from 'zod';

import type { Behaviour } from '../gateway/script.ts';

/** The bytes of an answer of a model server: see the behaviour `raw`. */
export type OddAnswer = Omit<Extract<z.input<typeof Behaviour>, { kind: 'raw' }>, 'kind'>;

/** One odd behaviour of a model server that was seen, and the expected end of a run. */
export interface OddCase {
  readonly name: string;
  /** The answers to the requests of the run in order; the last one repeats. */
  readonly answers: readonly OddAnswer[];
  /** True if the run is offered the tool `calculate`. */
  readonly tools?: boolean;
  /** A model of the fixture; by default the one that is known to give finish reasons. */
  readonly modelId?: string;
  readonly expected: Expected;
}

export interface Expected {
  readonly state: 'succeeded' | 'failed';
  readonly reason?: string | null;
  readonly failureClass?: string;
  /** Number of attempts at the last model step. */
  readonly attempts: number;
  readonly result?: string | null;
  /** A part of the error message. */
  readonly words?: string;
  /** The whole error message. */
  readonly message?: string;
  /** The finish reason of the last model step. */
  readonly finish?: string | null;
  /** The thinking of the first step. */
  readonly thinking?: string;
  /** The arguments of each tool call, as JSON values. */
  readonly calls?: readonly unknown[];
  /** Codes of the warnings of all steps. */
  readonly warnings?: readonly string[];
}

export const REPORT = 'The report: sales rose in all three regions.';
export const HALF = 'HALF OF A REPORT. Sales rose in';

export function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** Writes a chunk of a completion. */
export function chunk(delta: object, reason: unknown = null, more: object = {}): string {
  return event({
    id: 'c1',
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
    ...more,
  });
}

export function says(content: string, reason: unknown = null): string {
  return chunk({ content }, reason);
}

export const COUNTED = { usage: { prompt_tokens: 4_000, completion_tokens: 12, total_tokens: 4_012 } };
export const USAGE = event({ id: 'c1', choices: [], ...COUNTED });
export const DONE = 'data: [DONE]\n\n';

export function stream(...parts: string[]): OddAnswer {
  return { parts };
}

/** Makes a stream with a whole text that ends with this reason. */
export function ends(reason: unknown, text = REPORT): OddAnswer {
  return stream(says(text), chunk({}, reason), USAGE, DONE);
}

/** Makes a body that is not streamed. */
export function body(value: unknown, contentType = 'application/json'): OddAnswer {
  return { contentType, parts: [typeof value === 'string' ? value : JSON.stringify(value)] };
}

/** Makes a completion that is not streamed. */
export function completion(message: object, reason: unknown = 'stop', more: object = COUNTED): OddAnswer {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }];
  return body({ id: 'c1', object: 'chat.completion', choices, ...more });
}

/** Writes a piece of a tool call as a delta. */
export function piece(call: object): string {
  return chunk({ tool_calls: [call] });
}

export function succeeds(result = REPORT, more: Partial<Expected> = {}): Expected {
  return { state: 'succeeded', reason: null, attempts: 1, result, ...more };
}

/** Expects a failure that is not retried. */
export function fails(reason: string, words: string, more: Partial<Expected> = {}): Expected {
  return { state: 'failed', reason, words, attempts: 1, ...more };
}

/** Expects a failure of the provider after all attempts. */
export function failsAfterAll(reason: string, words: string, more: Partial<Expected> = {}): Expected {
  return { ...fails(reason, words, more), failureClass: 'provider', attempts: 5, result: null };
}
