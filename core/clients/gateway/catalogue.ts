import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { Big } from 'big.js';
import { LRUCache } from 'lru-cache';
import type { ModelDialect } from '#lib/config/index.ts';
import type { ListedFigures } from './read-list.ts';

/**
 * Providers in the catalogue, by dialect. An operator's own server has no provider there, because a wrong price is
 * worse than an unknown price.
 */
const PROVIDERS: Partial<Record<ModelDialect, string>> = {
  openai: 'openai',
  azure: 'azure',
  anthropic: 'anthropic',
  gemini: 'google',
  mistral: 'mistral',
  groq: 'groq',
  openrouter: 'openrouter',
};

/**
 * Figures are cached, because the look-up of an unknown id compares it with every model. They expire, because some
 * prices change on a date that the catalogue knows.
 */
const known = new LRUCache<string, ListedFigures>({ max: 20_000, ttl: 60 * 60 * 1_000 });

/**
 * Looks up window and prices of a model in the catalogue that ships with the service.
 * @param server dialect and address of the server; the address reveals hosts of other providers
 */
export function catalogueFigures(
  server: { readonly dialect: ModelDialect; readonly baseUrl: string },
  modelId: string,
): ListedFigures {
  const providerId =
    server.dialect === 'other' ? findProvider({ providerApiUrl: server.baseUrl })?.id : PROVIDERS[server.dialect];
  if (providerId === undefined) return {};
  const key = `${providerId}\n${modelId}`;
  const found = known.get(key) ?? lookUp(providerId, modelId);
  known.set(key, found);
  return found;
}

function lookUp(providerId: string, modelId: string): ListedFigures {
  // Ask for the prices of one token each.
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, modelId, { providerId });
  if (found === null) return {};
  const { model, model_price: price } = found;
  const [input, output] = [price['input_mtok'], price['output_mtok']];
  if (input === undefined || output === undefined) return { contextTokens: model.context_window };
  const start = [input, output].flatMap((quoted) =>
    typeof quoted === 'object' ? quoted.tiers.map(({ start: from }) => from) : [],
  );
  const cached = price['cache_read_mtok'];
  const prices = {
    input: perToken(input, 0),
    output: perToken(output, 0),
    cachedInput: cached === undefined ? null : perToken(cached, 0),
  };
  // Where there are several tiers, the highest price applies from the first threshold, so that no step costs more.
  const above =
    start.length === 0
      ? undefined
      : {
          inputTokens: Math.min(...start),
          input: perToken(input, -1),
          output: perToken(output, -1),
          cachedInput: cached === undefined ? null : perToken(cached, -1),
        };
  return { contextTokens: model.context_window, prices: { ...prices, ...(above && { above }) } };
}

type Quoted = number | { readonly base: number; readonly tiers: readonly { readonly price: number }[] };

/** Returns the price of one token from a price for a million. `of` selects the tier: 0 is the first, -1 the last. */
function perToken(quoted: Quoted, of: 0 | -1): string {
  const all = typeof quoted === 'object' ? [quoted.base, ...quoted.tiers.map(({ price }) => price)] : [quoted];
  return new Big(all.at(of) ?? 0).div(1_000_000).toFixed();
}
