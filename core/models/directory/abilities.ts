import type { Db } from '#lib/database/index.ts';
import type { ModelDialect } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';

/**
 * Facts about a model's server that decide what a request may hold. Absent means unknown: the request then tries, and a
 * refusal that names the field is remembered.
 */
export interface ModelAbilities {
  /** `response_format` with a JSON Schema. */
  readonly structuredOutputs?: boolean;
  readonly tools?: boolean;
  /** Several calls in one turn; without them turns of old transcripts are split. */
  readonly parallelToolCalls?: boolean;
  /** The field `parallel_tool_calls`, by which a server is held to one call. */
  readonly parallelToolCallsField?: boolean;
  readonly outputLimit?: 'max_tokens' | 'max_completion_tokens' | 'none';
  readonly streaming?: boolean;
  /** `stream_options.include_usage`. */
  readonly streamUsage?: boolean;
  /** Calls of earlier steps in a request that offers no tools. */
  readonly callsWithoutTools?: boolean;
  /** Reasoning of earlier steps may be sent back. */
  readonly reasoningBack?: boolean;
  /** A message of the role `system` may come first. */
  readonly systemRole?: boolean;
  /** A response may begin inside its thinking: the server's chat template has written the opening tag. */
  readonly beginsInThinking?: boolean;
  /** Whole responses give a finish reason. */
  readonly finishReasons?: boolean;
  /** The most output tokens that the server named in a refusal. */
  readonly maxOutputTokens?: number;
  /** The context window that the server named in a refusal. */
  readonly contextTokens?: number;
}

/** Abilities that a dialect has before its server was ever asked. Source: the servers' own API references. */
export const ABILITIES_OF_DIALECT: Readonly<Record<ModelDialect, ModelAbilities>> = {
  openai: { outputLimit: 'max_completion_tokens', structuredOutputs: true },
  azure: { outputLimit: 'max_completion_tokens', structuredOutputs: true },
  // Its compatible endpoint ignores `response_format`.
  anthropic: { structuredOutputs: false },
  gemini: { structuredOutputs: true },
  mistral: { structuredOutputs: true, reasoningBack: false },
  groq: { reasoningBack: false },
  openrouter: {},
  litellm: {},
  'llama.cpp': { structuredOutputs: true, beginsInThinking: true },
  vllm: { structuredOutputs: true, beginsInThinking: true },
  ollama: { structuredOutputs: true, beginsInThinking: true },
  'lm-studio': { structuredOutputs: true, beginsInThinking: true },
  other: {},
};

/** A model by its server's own id. */
export interface ServedModel {
  readonly source: string;
  readonly modelId: string;
}

/** Abilities that were learned from servers, by model. Kept in the database and, for a minute, in this process. */
export interface AbilityStore {
  /** Returns what was learned of a model; empty where nothing was, or nothing is known yet. */
  of(model: ServedModel): ModelAbilities;
  /** Remembers what a refusal or a test has shown. */
  learn(model: ServedModel, learned: ModelAbilities): Promise<void>;
  /** Forgets all about a model, whose server has changed. */
  forget(model: ServedModel): Promise<void>;
  /** Reads what other processes have learned, at most once a minute. Never throws. */
  refresh(): Promise<void>;
}

const FRESH_MS = 60_000;

/** An upgrade of a server brings abilities, so what was learned is tried again after a week. */
const KEPT_DAYS = 7;

export function createAbilityStore({ database, log }: { database: Db; log: Log }): AbilityStore {
  let known = new Map<string, ModelAbilities>();
  let readAt = Number.NEGATIVE_INFINITY;
  const keyOf = ({ source, modelId }: ServedModel) => `${source}\n${modelId}`;
  const write = (work: Promise<unknown>) =>
    work.catch((err: unknown) => log.warn({ err }, 'abilities of a model could not be kept'));
  return {
    of: (model) => known.get(keyOf(model)) ?? {},
    async learn(model, learned) {
      known.set(keyOf(model), { ...known.get(keyOf(model)), ...learned });
      await write(
        database.run`
          insert into model_abilities (source, model_id, abilities)
          values (${model.source}, ${model.modelId}, ${JSON.stringify(learned)}::jsonb)
          on conflict (source, model_id) do update
          set abilities = model_abilities.abilities || excluded.abilities, learned_at = now()
        `,
      );
    },
    async forget(model) {
      known.delete(keyOf(model));
      const { source, modelId } = model;
      await write(database.run`delete from model_abilities where source = ${source} and model_id = ${modelId}`);
    },
    async refresh() {
      if (performance.now() - readAt < FRESH_MS) return;
      readAt = performance.now();
      try {
        const found = await database.rows<ServedModel & { readonly abilities: ModelAbilities }>`
          select source, model_id as "modelId", abilities from model_abilities
          where learned_at > now() - make_interval(days => ${KEPT_DAYS})
        `;
        known = new Map(found.map(({ abilities, ...model }) => [keyOf(model), abilities]));
      } catch (err) {
        log.warn({ err }, 'abilities of models could not be read');
      }
    },
  };
}
