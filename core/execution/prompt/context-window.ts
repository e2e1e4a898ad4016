import type { ModelMessage } from 'ai';
import type { ModelOption } from '#core/models/directory/index.ts';
import { estimatedTokens, tokensAtLeast } from '#core/clients/gateway/index.ts';
import { MIN_OUTPUT_TOKENS } from '#core/usage/index.ts';

/** The messages of one recorded step. */
export interface TranscriptStep {
  readonly index: number;
  readonly messages: readonly ModelMessage[];
}

export interface FittedTranscript {
  readonly messages: readonly ModelMessage[];
  /** The steps whose results had to make room, with the messages that replace them. */
  readonly omitted: readonly TranscriptStep[];
  /** The fewest tokens that the whole call needs; undefined if the model has room for the call. */
  readonly tooLong: { readonly tokens: number; readonly contextTokens: number } | undefined;
}

/** The part of a model's context window that is kept free for its response, unless the response is limited to less. */
const OUTPUT_SHARE = 1 / 4;

/**
 * Share of the room that a long transcript keeps after a cut: the following steps then begin with the same messages.
 */
const KEPT_SHARE = 3 / 4;

/** Results with fewer characters stay, because a note in their place would hardly be shorter. */
const WORTH_OMITTING = 500;

/**
 * Fits the transcript of a run into the context window of its model. If the call could be too long, notes that state
 * the length replace the oldest results of tools. Results that the model has not seen yet stay, because the model would
 * only ask for them again. For a model whose context window is unknown, nothing is replaced.
 * @param call.countInput returns the most tokens that the call with the whole transcript can have
 */
export function fitTranscript(
  steps: readonly TranscriptStep[],
  option: Pick<ModelOption, 'contextTokens' | 'maxOutputTokens'>,
  call: { readonly countInput: () => number; readonly maxOutputTokens: number | null },
): FittedTranscript {
  const { contextTokens } = option;
  const asItIs = { messages: messagesOf(steps), omitted: [], tooLong: undefined };
  if (contextTokens === null) return asItIs;
  const output = call.maxOutputTokens ?? option.maxOutputTokens ?? Infinity;
  const room = contextTokens - Math.min(output, Math.floor(contextTokens * OUTPUT_SHARE));
  let tokens = call.countInput();
  if (tokens <= room) return asItIs;
  const omitted = new Map<number, TranscriptStep>();
  for (const step of omittable(steps)) {
    if (tokens <= room * KEPT_SHARE) break;
    const note = { index: step.index, messages: step.messages.map(withoutResults) };
    tokens -= tokensOf(step) - tokensOf(note);
    omitted.set(step.index, note);
  }
  const fitted = steps.map((step) => omitted.get(step.index) ?? step);
  const fewest = tokensAtLeast(tokens);
  return {
    messages: messagesOf(fitted),
    omitted: [...omitted.values()],
    tooLong: fewest > contextTokens - MIN_OUTPUT_TOKENS ? { tokens: fewest, contextTokens } : undefined,
  };
}

function omittable(steps: readonly TranscriptStep[]): readonly TranscriptStep[] {
  const latest = steps.findLastIndex(({ messages }) => messages.some(({ role }) => role === 'assistant'));
  return steps
    .slice(0, Math.max(latest, 0))
    .filter(({ messages }) => messages.some((message) => message !== withoutResults(message)));
}

/** Replaces each long result by a note that states its length; returns a message without long results unchanged. */
function withoutResults(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result') return part;
    const { output } = part;
    if (output.type !== 'text' && output.type !== 'error-text') return part;
    if (output.value.length < WORTH_OMITTING) return part;
    const value = `[${output.value.length} characters were here, which the model has read. They were left out to make room.]`;
    return { ...part, output: { ...output, value } };
  });
  const same = content.every((part, at) => part === message.content[at]);
  return same ? message : { ...message, content };
}

function messagesOf(steps: readonly TranscriptStep[]): ModelMessage[] {
  return steps.flatMap(({ messages }) => [...messages]);
}

function tokensOf({ messages }: TranscriptStep): number {
  return estimatedTokens(JSON.stringify(messages));
}
