import { z } from 'zod';
import type { ModelDialect } from '#lib/config/index.ts';
import type { ModelAbilities } from './abilities.ts';

/** Prices in US dollars per token, as decimal strings. */
interface ListedPrice {
  readonly input: string;
  readonly output: string;
  readonly cachedInput: string | null;
}

/** Figures that a list or the catalogue states for a model. */
export interface ListedFigures {
  readonly contextTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly prices?: Prices | undefined;
}

export interface Prices extends ListedPrice {
  /** Prices of the whole request if its input is longer than `inputTokens`; absent if the prices do not change. */
  readonly above?: LongInputPrices | undefined;
}

interface LongInputPrices extends ListedPrice {
  readonly inputTokens: number;
}

/** A model as its server lists it. */
export interface ListedModel {
  readonly id: string;
  readonly name: string;
  readonly figures: ListedFigures;
  readonly abilities: ModelAbilities;
}

export interface ListedModels {
  readonly models: readonly ListedModel[];
  /** Kind of the server, if its list reveals one; undefined when it could be any. */
  readonly dialect: ModelDialect | undefined;
}

/** A price in US dollars per token: a decimal string, or a number from some servers. */
const price = lenient(
  z.union([z.string().regex(/^\d+(\.\d+)?(e-?\d+)?$/i), z.number().nonnegative().finite().transform(String)]),
);
/** A number of tokens; a value that is not positive, like the 0 of some servers, counts as unknown. */
const tokens = lenient(z.number().int().positive().max(2_147_483_647));
const word = lenient(z.string());
const words = lenient(z.array(z.string()));
const flag = lenient(z.boolean());

/** Prices by the length of the prompt, the shortest first. */
const tiers = lenient(z.array(z.object({ cost: price, min: lenient(z.number().int().nonnegative()) })));

/** The fields that differ by server, all optional; `lists.test.ts` of the directory shows which server sends which. */
const figures = {
  max_input_tokens: tokens,
  max_output_tokens: tokens,
  mode: word,
  input_cost_per_token: price,
  output_cost_per_token: price,
  cache_read_input_token_cost: price,
  supports_function_calling: flag,
  supports_response_schema: flag,
};

const entry = z.object({
  ...figures,
  id: z.string().min(1).max(200),
  name: lenient(z.string().min(1).max(300)),
  display_name: lenient(z.string().min(1).max(300)),
  context_length: tokens,
  context_window: tokens,
  max_context_length: tokens,
  loaded_context_length: tokens,
  max_model_len: tokens,
  max_tokens: tokens,
  max_completion_tokens: tokens,
  meta: part({ n_ctx: tokens, n_ctx_train: tokens }),
  top_provider: part({ max_completion_tokens: tokens }),
  architecture: part({ output_modalities: words }),
  capabilities: part({
    completion_chat: flag,
    chat_completion: flag,
    function_calling: flag,
    structured_outputs: part({ supported: flag }),
  }),
  model_info: part(figures),
  type: word,
  active: flag,
  owned_by: word,
  supported_parameters: words,
  pricing: part({
    prompt: price,
    input: price,
    completion: price,
    output: price,
    input_cache_read: price,
    overrides: lenient(z.array(z.object({ min_prompt_tokens: tokens, prompt: price, completion: price }))),
    input_tiers: tiers,
    output_tiers: tiers,
  }),
});
type Entry = z.output<typeof entry>;

const list = z.union([z.object({ data: z.array(z.unknown()) }), z.array(z.unknown()).transform((data) => ({ data }))]);

/**
 * Reads the response to `GET /models` in every known dialect. Leaves out an entry that cannot be read, that repeats an
 * id, or whose model writes no text.
 * @throws when the response is not a list at all
 */
export function readGatewayList(answer: unknown, dialect: ModelDialect): ListedModels {
  const entries = list.parse(answer).data.flatMap((item) => entry.safeParse(item).data ?? []);
  const models = new Map<string, ListedModel>();
  for (const each of entries) {
    const id = dialect === 'gemini' ? each.id.replace(/^models\//, '') : each.id;
    if (!models.has(id) && writesText(each)) models.set(id, { ...readEntry(each), id });
  }
  return {
    models: [...models.values()],
    dialect: entries.flatMap(({ owned_by: owner }) => OWNERS[owner ?? ''] ?? [])[0],
  };
}

/** Dialects by the owner that an operator's own server names for each model. */
const OWNERS: Readonly<Record<string, ModelDialect>> = {
  llamacpp: 'llama.cpp',
  vllm: 'vllm',
  library: 'ollama',
  organization_owner: 'lm-studio',
};

function readEntry(model: Entry): Omit<ListedModel, 'id'> {
  const { capabilities, supported_parameters: parameters } = model;
  const info = { ...model.model_info, ...withoutUnknown(model) };
  return {
    name: model.display_name ?? model.name ?? model.id,
    figures: {
      // Prefer the loaded window, then the largest possible window, then the training window.
      contextTokens:
        model.loaded_context_length ??
        model.context_length ??
        model.context_window ??
        model.max_model_len ??
        model.max_context_length ??
        info.max_input_tokens ??
        model.meta?.n_ctx ??
        model.meta?.n_ctx_train,
      maxOutputTokens:
        model.max_completion_tokens ??
        info.max_output_tokens ??
        model.max_tokens ??
        model.top_provider?.max_completion_tokens,
      prices: readPrices(model, info),
    },
    abilities: withoutUnknown({
      structuredOutputs:
        parameters?.includes('structured_outputs') ??
        capabilities?.structured_outputs?.supported ??
        info.supports_response_schema,
      effort: parameters === undefined || parameters.some((each) => EFFORT_PARAMETERS.has(each)) ? undefined : 'none',
      tools: parameters?.includes('tools') ?? capabilities?.function_calling ?? info.supports_function_calling,
    }),
  };
}

/** Names of parameters that, in a server's list, show that a model accepts an effort. */
const EFFORT_PARAMETERS = new Set(['reasoning', 'reasoning_effort']);

/** The highest price per token. A higher price is in another unit, because no model costs more than a cent. */
const MOST_PER_TOKEN = 0.01;

function readPrices({ pricing }: Entry, info: Entry['model_info']): Prices | undefined {
  const input = pricing?.prompt ?? pricing?.input ?? info?.input_cost_per_token;
  const output = pricing?.completion ?? pricing?.output ?? info?.output_cost_per_token;
  const cachedInput = pricing?.input_cache_read ?? info?.cache_read_input_token_cost ?? null;
  if (input === undefined || output === undefined) return undefined;
  if (Math.max(Number(input), Number(output)) > MOST_PER_TOKEN) return undefined;
  // A reservation counts all input at its full price, so the full price must be the highest price.
  const isDearer = cachedInput !== null && Number(cachedInput) > Number(input);
  const above = pricing && readLongPrices(pricing);
  return { input, output, cachedInput: isDearer ? null : cachedInput, ...(above && { above }) };
}

/** Reads the price of the highest tier, which applies from the first threshold. */
function readLongPrices(pricing: NonNullable<Entry['pricing']>): LongInputPrices | undefined {
  const { overrides = [], input_tiers: inputs = [], output_tiers: outputs = [] } = pricing;
  const [from, last] = [overrides[0]?.min_prompt_tokens, overrides.at(-1)];
  if (from !== undefined && last?.prompt !== undefined && last.completion !== undefined) {
    return { inputTokens: from - 1, input: last.prompt, output: last.completion, cachedInput: null };
  }
  const [start, input, output] = [inputs[1]?.min, inputs.at(-1)?.cost, outputs.at(-1)?.cost];
  if (!start || input === undefined) return undefined;
  const usual = pricing.completion ?? pricing.output;
  return { inputTokens: start - 1, input, output: output ?? usual ?? input, cachedInput: null };
}

/** Kinds of models that write text, as servers name them. Models of other kinds write no text. */
const TEXT_KINDS = new Set([
  'model',
  'language',
  'llm',
  'vlm',
  'chat',
  'completion',
  'responses',
  'text',
  'code',
  'base',
  'fine-tuned',
]);

/** Matches ids of models that write no text, for servers that do not state a kind. */
const OTHER_IDS = /(?:embed|whisper)|(?:^|[^a-z])(?:tts|dall-e|image|rerank|moderation|realtime|transcribe|sora|veo-)/i;

function writesText(model: Entry): boolean {
  const { active, architecture, capabilities, type } = model;
  if (active === false) return false;
  if (capabilities?.completion_chat === false || capabilities?.chat_completion === false) return false;
  if (architecture?.output_modalities !== undefined) return architecture.output_modalities.includes('text');
  const kind = model.mode ?? model.model_info?.mode ?? type;
  if (kind !== undefined && !TEXT_KINDS.has(kind)) return false;
  // Some servers give one of these two kinds to every model, so only the id shows the kind.
  const isSaid = kind !== undefined && kind !== 'model' && kind !== 'base';
  return isSaid || !OTHER_IDS.test(model.id);
}

/** Reads an odd value as undefined, so that a model with one odd field stays in the list. */
function lenient<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}

function part<Shape extends z.ZodRawShape>(shape: Shape) {
  return lenient(z.object(shape));
}

function withoutUnknown<T extends object>(fields: T) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `fromEntries` forgets the names
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}
