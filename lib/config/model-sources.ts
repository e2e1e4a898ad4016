import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { secretFromFile } from './secret-files.ts';

/** Known kinds of model servers. Any other server that speaks OpenAI's chat completions is `other`. */
export const MODEL_DIALECTS = [
  'openai',
  'azure',
  'anthropic',
  'gemini',
  'mistral',
  'groq',
  'openrouter',
  'litellm',
  'llama.cpp',
  'vllm',
  'ollama',
  'lm-studio',
  'other',
] as const;
export type ModelDialect = (typeof MODEL_DIALECTS)[number];

/** Figures that the operator gives for a model, to fill gaps in its server's list. */
export interface ModelFigures {
  readonly contextTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  /** Prices in US dollars per token, as decimal strings. */
  readonly prices?: { input: string; output: string; cachedInput?: string | undefined } | undefined;
}

/** A model server behind the provider value `gateway`. */
export interface ModelSource {
  readonly name: string;
  /** Base of the paths `/models` and `/chat/completions`, without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** Name of the variable that holds the key, so that errors can name it. */
  readonly apiKeyVariable?: string | undefined;
  readonly dialect: ModelDialect;
  /** True for the operator's own server, whose models cost nothing. */
  readonly free: boolean;
  /** True to put the name of the source before the ids of its models if there are other sources. */
  readonly prefix: boolean;
  readonly figures: Readonly<Record<string, ModelFigures>>;
}

/** The name of the only source when no file lists several. */
export const ONLY_SOURCE = 'gateway';

const DIALECT_OF_HOST: readonly (readonly [RegExp, ModelDialect])[] = [
  [/(^|\.)api\.openai\.com$/, 'openai'],
  [/\.(openai|services\.ai|cognitiveservices)\.azure\.com$/, 'azure'],
  [/(^|\.)api\.anthropic\.com$/, 'anthropic'],
  [/(^|\.)generativelanguage\.googleapis\.com$/, 'gemini'],
  [/(^|\.)api\.mistral\.ai$/, 'mistral'],
  [/(^|\.)api\.groq\.com$/, 'groq'],
  [/(^|\.)openrouter\.ai$/, 'openrouter'],
];

function dialectOfHost(baseUrl: string): ModelDialect {
  const host = new URL(baseUrl).hostname;
  return DIALECT_OF_HOST.find(([pattern]) => pattern.test(host))?.[1] ?? 'other';
}

const decimal = z.string().regex(/^\d+(\.\d+)?(e-?\d+)?$/i, 'expected US dollars a token, as a decimal string');

const figures = z.strictObject({
  contextTokens: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  prices: z.strictObject({ input: decimal, output: decimal, cachedInput: decimal.optional() }).optional(),
});

const source = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,39}$/, 'expected up to 40 small letters, digits and . _ -'),
  baseUrl: z.url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' }),
  apiKeyVariable: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/)
    .optional(),
  dialect: z.enum(MODEL_DIALECTS).optional(),
  free: z.boolean().default(false),
  prefix: z.boolean().default(true),
  models: z.record(z.string(), figures).default({}),
});

const file = z.strictObject({ sources: z.array(source).min(1).max(50) });

/**
 * Reads the model sources: the sources of `GATEWAYS_FILE` (YAML or JSON, in which variables name the keys), else the
 * source of `GATEWAY_BASE_URL`.
 */
export function readModelSources(present: Partial<Record<string, string>>): {
  sources: ModelSource[];
  faults: string[];
} {
  const path = present['GATEWAYS_FILE'];
  if (path === undefined) return { sources: [onlySource(present)].flat(), faults: [] };
  const fault = (text: string) => ({ sources: [], faults: [`GATEWAYS_FILE: ${text}`] });
  let content: unknown;
  try {
    content = parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return fault(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = file.safeParse(content);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path: at, message }) => `${at.join('.')}: ${message}`);
    return { sources: [], faults: issues.map((issue) => `GATEWAYS_FILE: ${issue}`) };
  }
  const names = parsed.data.sources.map(({ name }) => name);
  const doubled = names.find((name, at) => names.indexOf(name) !== at);
  if (doubled !== undefined) return fault(`two sources are called ${doubled}`);
  const faults: string[] = [];
  const keyOf = (name: string, variable: string | undefined): string | undefined => {
    if (variable === undefined) return undefined;
    const { value, fault: why } = secretFromFile(present, variable);
    if (why !== undefined) faults.push(why);
    else if (value === undefined) {
      faults.push(`${variable}: required, as GATEWAYS_FILE names it for ${name}`);
    }
    return value;
  };
  const sources = parsed.data.sources.map(({ apiKeyVariable, models, ...each }) => ({
    ...each,
    baseUrl: each.baseUrl.replace(/\/+$/, ''),
    apiKey: keyOf(each.name, apiKeyVariable),
    apiKeyVariable,
    dialect: each.dialect ?? dialectOfHost(each.baseUrl),
    figures: models,
  }));
  return { sources, faults };
}

function onlySource({
  GATEWAY_BASE_URL: baseUrl,
  GATEWAY_API_KEY: apiKey,
}: Partial<Record<string, string>>): ModelSource | [] {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return [];
  return {
    name: ONLY_SOURCE,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    apiKey,
    apiKeyVariable: 'GATEWAY_API_KEY',
    dialect: dialectOfHost(baseUrl),
    free: false,
    prefix: false,
    figures: {},
  };
}
