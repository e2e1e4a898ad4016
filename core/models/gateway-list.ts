import { z } from 'zod';
import type { ModelOption, ModelPrices } from './model.ts';

/** A price: a decimal string, or a number from some gateways. Models with tiers count as models without a price. */
const price = z.union([
  z.string().regex(/^\d+(\.\d+)?(e-?\d+)?$/i),
  z.number().nonnegative().transform(String),
]);

const pricing = z
  .object({
    prompt: price.optional(),
    input: price.optional(),
    completion: price.optional(),
    output: price.optional(),
    input_cache_read: price.optional(),
  })
  .optional()
  .catch(undefined);

const entry = z.object({
  id: z.string().min(1).max(200),
  name: z.string().max(300).optional().catch(undefined),
  context_length: z.number().int().positive().optional().catch(undefined),
  context_window: z.number().int().positive().optional().catch(undefined),
  max_tokens: z.number().int().positive().optional().catch(undefined),
  top_provider: z
    .object({ max_completion_tokens: z.number().int().positive() })
    .optional()
    .catch(undefined),
  type: z.string().optional().catch(undefined),
  supported_parameters: z.array(z.string()).optional().catch(undefined),
  pricing,
});

const list = z.object({ data: z.array(z.unknown()) });

/**
 * Reads an OpenAI-compatible `GET /models` response. An entry that cannot be read is left out.
 * @throws when the response is not a list at all
 */
export function readGatewayList(answer: unknown, source: string): ModelOption[] {
  return list.parse(answer).data.flatMap((item) => {
    const parsed = entry.safeParse(item);
    if (!parsed.success) return [];
    const model = parsed.data;
    // Gateways list embedding and image models beside language models and say so in `type`.
    if (model.type !== undefined && model.type !== 'language') return [];
    return [
      {
        provider: 'gateway' as const,
        connectionId: null,
        modelId: model.id,
        name: model.name ?? model.id,
        contextTokens: model.context_length ?? model.context_window ?? null,
        maxOutputTokens: model.max_tokens ?? model.top_provider?.max_completion_tokens ?? null,
        abilities:
          model.supported_parameters === undefined
            ? {}
            : { structuredOutputs: model.supported_parameters.includes('structured_outputs') },
        served: { source, modelId: model.id },
        prices: readPrices(model.pricing),
      },
    ];
  });
}

function readPrices(quoted: z.output<typeof pricing>): ModelPrices | null {
  const input = quoted?.prompt ?? quoted?.input;
  const output = quoted?.completion ?? quoted?.output;
  if (input === undefined || output === undefined) return null;
  return { input, output, cachedInput: quoted?.input_cache_read ?? null };
}
