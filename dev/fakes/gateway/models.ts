/** A model of the fixture catalogue; prices are US dollars a token, as decimal strings. */
export interface FixtureModel {
  id: string;
  name: string;
  context_length: number;
  /** True for a model that reasons before it writes, and counts the tokens of its reasoning. */
  reasons?: boolean;
  /** True for a model that can be held to a JSON Schema. */
  structured?: boolean;
  pricing?: Pricing;
}

/**
 * Pricing in the forms that gateways publish: OpenRouter's `prompt`/`completion` with `overrides` from a prompt size
 * on, and Vercel AI Gateway's `input`/`output` with brackets in `…_tiers`.
 */
export type Pricing = OpenRouterPricing | VercelPricing;

export interface OpenRouterPricing {
  prompt: string;
  completion: string;
  input_cache_read?: string;
  internal_reasoning?: string;
  overrides?: {
    min_prompt_tokens: number;
    prompt: string;
    completion: string;
    input_cache_read?: string;
  }[];
}

export interface VercelPricing {
  input: string;
  output: string;
  input_cache_read?: string;
  input_tiers?: PriceTier[];
  output_tiers?: PriceTier[];
}

interface PriceTier {
  cost: string;
  min?: number;
  max?: number;
}

/** Models of every kind that a directory has to handle: plain, with two tiers, free, without a price. */
export const FIXTURE_MODELS: readonly FixtureModel[] = [
  {
    id: 'fixture/writer-small',
    name: 'Fixture Writer Small',
    context_length: 128_000,
    pricing: { prompt: '0.00000015', completion: '0.0000006', input_cache_read: '0.000000075' },
  },
  {
    id: 'fixture/writer-large',
    name: 'Fixture Writer Large',
    context_length: 1_000_000,
    pricing: {
      prompt: '0.000003',
      completion: '0.000015',
      input_cache_read: '0.0000003',
      overrides: [
        {
          min_prompt_tokens: 200_000,
          prompt: '0.000006',
          completion: '0.0000225',
          input_cache_read: '0.0000006',
        },
      ],
    },
  },
  {
    id: 'fixture/analyst',
    name: 'Fixture Analyst',
    context_length: 256_000,
    structured: true,
    pricing: {
      input: '0.000001',
      output: '0.000005',
      input_cache_read: '0.0000002',
      input_tiers: [
        { cost: '0.000001', min: 0, max: 32_001 },
        { cost: '0.0000018', min: 32_001 },
      ],
      output_tiers: [
        { cost: '0.000005', min: 0, max: 32_001 },
        { cost: '0.000009', min: 32_001 },
      ],
    },
  },
  {
    id: 'fixture/thinker',
    name: 'Fixture Thinker',
    context_length: 200_000,
    reasons: true,
    pricing: {
      prompt: '0.0000011',
      completion: '0.0000044',
      input_cache_read: '0.000000275',
      internal_reasoning: '0.0000044',
    },
  },
  {
    id: 'fixture/free',
    name: 'Fixture Free',
    context_length: 32_000,
    pricing: { prompt: '0', completion: '0' },
  },
  { id: 'fixture/unpriced', name: 'Fixture Unpriced', context_length: 8_000 },
  { id: 'fixture/unpriced-long', name: 'Fixture Unpriced Long', context_length: 128_000 },
];

/** Returns the limit of a model's output, if its server states one. */
export function outputLimitOf({ context_length }: FixtureModel): number {
  return Math.max(4_096, Math.min(16_384, Math.floor(context_length / 2)));
}
