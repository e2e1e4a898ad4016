import type { FixtureModel, Pricing } from './models.ts';
import { textOf } from './request.ts';
import type { ChatMessage, ChatRequest } from './request.ts';
import type { Reply } from './reply.ts';

/** Counts the tokens of a request's prompt, with its tools. */
export function promptTokensOf({ messages, tools }: ChatRequest): number {
  return tokensOf(messages) + tokens(json(tools));
}

/** Cuts a prompt to a window: the oldest messages go first, then the beginning of the last one. */
export function cutPrompt(request: ChatRequest, window: number): ChatRequest {
  const system = request.messages.filter(({ role }) => role === 'system');
  let rest = request.messages.filter(({ role }) => role !== 'system');
  const cut = () => ({ ...request, messages: [...system, ...rest] });
  while (rest.length > 1 && promptTokensOf(cut()) > window) rest = rest.slice(1);
  const excess = promptTokensOf(cut()) - window;
  if (excess > 0) rest = rest.map((last) => ({ ...last, content: textOf(last).slice(excess * 4) }));
  return cut();
}

/** Token counts as OpenAI's API gives them (completion includes reasoning), and OpenRouter's `cost` in US dollars. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
  cost?: number;
}

/** Estimates usage: four characters are a token, and the tokens of earlier turns are cached. */
export function usageOf(request: ChatRequest, reply: Reply, model: FixtureModel | undefined): Usage {
  const lastTurn = request.messages.findLastIndex(({ role }) => role === 'assistant');
  const cached = lastTurn === -1 ? 0 : tokensOf(request.messages.slice(0, lastTurn));
  const prompt = promptTokensOf(request);
  const reasoning = tokens(reply.reasoning ?? '');
  const calls = reply.calls.map((call) => call.name + call.arguments).join('');
  const completion = tokens(reply.text ?? '') + tokens(calls) + reasoning;
  const cost = model?.pricing && costOf(model.pricing, { prompt, cached, completion });
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
    ...(cost === undefined ? {} : { cost }),
  };
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function json(value: unknown): string {
  return value == null ? '' : JSON.stringify(value);
}

function tokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + tokens(textOf(message) + json(message.tool_calls)), 0);
}

interface Counts {
  prompt: number;
  cached: number;
  completion: number;
}

function costOf(pricing: Pricing, { prompt, cached, completion }: Counts): number {
  const rates = ratesAt(pricing, prompt);
  const dollars = (prompt - cached) * rates.input + cached * rates.cached + completion * rates.output;
  return Number(dollars.toFixed(12));
}

function ratesAt(pricing: Pricing, prompt: number): { input: number; cached: number; output: number } {
  if ('input' in pricing) {
    const at = (tiers: typeof pricing.input_tiers): string | undefined =>
      tiers?.findLast(({ min = 0 }) => prompt >= min)?.cost;
    const input = Number(at(pricing.input_tiers) ?? pricing.input);
    return {
      input,
      cached: Number(pricing.input_cache_read ?? input),
      output: Number(at(pricing.output_tiers) ?? pricing.output),
    };
  }
  const rates = pricing.overrides?.findLast(({ min_prompt_tokens }) => prompt >= min_prompt_tokens) ?? pricing;
  return {
    input: Number(rates.prompt),
    cached: Number(rates.input_cache_read ?? rates.prompt),
    output: Number(rates.completion),
  };
}
