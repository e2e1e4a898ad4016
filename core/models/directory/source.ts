import {
  ABILITIES_OF_DIALECT,
  catalogueFigures,
  faultInWords,
  fetchModels,
  ListError,
  seenSource,
  sourceLabel,
  subjectOf,
  type ListedModel,
  type ListFault,
  type ModelAbilities,
  type SeenSource,
  type ServedModel,
} from '#core/clients/gateway/index.ts';
import type { ModelDialect, ModelSource } from '#lib/config/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { firstKnown, type FigureOrigin, type ModelOption, type SomeFigures } from './model.ts';

/** A model with its figures from list, operator and catalogue. */
export interface SourcedModel {
  readonly served: ServedModel;
  readonly name: string;
  /** Figures that have priority over a context window learned from refusals. */
  readonly before: readonly (readonly [FigureOrigin, SomeFigures])[];
  /** Figures that count only where no other origin has a value. */
  readonly after: readonly (readonly [FigureOrigin, SomeFigures])[];
  readonly abilities: ModelOption['abilities'];
}

/** Collects the figures of a model from list and configuration. `optionOf` adds learned and entered figures. */
export function sourcedModel(source: SeenSource, listed: ListedModel): SourcedModel {
  const operator = source.figures[listed.id];
  const stated: SomeFigures = {
    ...operator,
    prices: operator?.prices && {
      ...operator.prices,
      cachedInput: operator.prices.cachedInput ?? null,
    },
  };
  const before: SourcedModel['before'] = [
    ['list', listed.figures],
    ['operator', stated],
    ['local', source.local ? { prices: FREE } : {}],
  ];
  // Look in the catalogue only for missing figures: the look-up compares the id with hundreds of ids, which is slow for
  // many models.
  const { contextTokens, prices } = firstKnown(before).figures;
  const lacks = !source.local && (contextTokens === null || prices === null);
  return {
    served: { source: source.name, modelId: listed.id },
    name: listed.name,
    before,
    after: lacks ? [['catalogue', catalogueFigures(source, listed.id)]] : [],
    abilities: { ...ABILITIES_OF_DIALECT[source.dialect], ...listed.abilities },
  };
}

const FREE = { input: '0', output: '0', cachedInput: null };

/** Makes the option, with the abilities and figures that the organization has learned or entered. */
export function optionOf(
  model: SourcedModel,
  modelId: string,
  { learned: known, byHand }: { learned: ModelAbilities; byHand?: SomeFigures | undefined },
): ModelOption {
  const { maxOutputTokens, contextTokens, ...learned } = known;
  const { figures, origins } = firstKnown([
    // An output limit that the server named in a refusal has priority over its list, which may ignore how the server
    // was started.
    ['learned', { maxOutputTokens }],
    ...model.before,
    ['learned', { contextTokens }],
    ['by_hand', byHand ?? {}],
    ...model.after,
  ]);
  return {
    provider: 'gateway',
    connectionId: null,
    modelId,
    name: model.name,
    ...figures,
    origins,
    abilities: {
      ...model.abilities,
      ...learned,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(contextTokens === undefined ? {} : { contextTokens }),
    },
    served: model.served,
  };
}

/** The state of a source, as people see it. */
export interface SourceState {
  readonly name: string;
  readonly label: string;
  readonly dialect: ModelDialect;
  /** True for the operator's own server, whose models cost nothing. */
  readonly local: boolean;
  /** Address of the source; null if callers may not see it. */
  readonly baseUrl: string | null;
  readonly state: 'ready' | 'stale' | 'unavailable';
  /** One sentence about the last request, if the request failed, with the remedy. */
  readonly lastError: string | null;
  /** Duration of the last request that gave a list, in milliseconds. */
  readonly latencyMs: number | null;
  readonly models: number;
  readonly fetchedAt: Date | null;
}

interface LastList {
  readonly models: ReadonlyMap<string, SourcedModel>;
  readonly dialect: ModelDialect;
  readonly local: boolean;
  readonly latencyMs: number;
  readonly fetchedAt: Date;
}

export interface CachedSource {
  readonly source: ModelSource;
  /** Returns the last list; undefined until the source has given one. */
  last(): LastList | undefined;
  /** Tells whether the last list is missing or older than a minute. */
  isAged(): boolean;
  /**
   * Asks the server for its list if the last list is too old. One request is in flight at a time.
   * @param rests true leaves the server alone for some seconds after a failure
   */
  refresh(rests: boolean): Promise<void>;
  find(modelId: string): SourcedModel | undefined;
  /** Explains in one sentence why the last request failed; undefined after a success. */
  problem(): string | undefined;
  state(): SourceState;
}

export interface CacheSettings {
  readonly log: Log;
  /** True to show addresses and names of variables to callers. */
  readonly showAddresses: boolean;
  readonly timeoutMs?: number;
}

const FRESH_MS = 60_000;
const RETRY_AFTER_FAILURE_MS = 5_000;

/** Keeps the last list of a source, and the outcome of its last request. */
export function createCachedSource(source: ModelSource, settings: CacheSettings): CachedSource {
  const { log, showAddresses, timeoutMs = 10_000 } = settings;
  let last: LastList | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let fault: ListFault | undefined;
  let inFlight: Promise<void> | undefined;

  const isAged = () => last === undefined || Date.now() - last.fetchedAt.getTime() >= FRESH_MS;
  const shown = () => ({ ...source, dialect: last?.dialect ?? source.dialect });

  async function ask(): Promise<void> {
    const started = performance.now();
    try {
      const listed = await fetchModels(source, timeoutMs);
      const latencyMs = Math.round(performance.now() - started);
      const seen = seenSource(source, listed.dialect);
      const models = new Map(listed.models.map((model) => [model.id, sourcedModel(seen, model)]));
      last = { ...seen, models, latencyMs, fetchedAt: new Date() };
      fault = undefined;
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (err) {
      fault = err instanceof ListError ? err.fault : { kind: 'network', code: undefined };
      failedAt = performance.now();
      const words = faultInWords(shown(), fault, true);
      log.warn({ err, source: source.name }, `the model list could not be fetched: ${words}`);
    } finally {
      inFlight = undefined;
    }
  }

  function problem(): string | undefined {
    if (fault !== undefined) return faultInWords(shown(), fault, showAddresses);
    return isAged() ? `${subjectOf(shown())} has not answered yet.` : undefined;
  }

  return {
    source,
    last: () => last,
    isAged,
    async refresh(rests) {
      const isResting = performance.now() - failedAt < RETRY_AFTER_FAILURE_MS;
      if (!isAged() || (isResting && rests)) return;
      await (inFlight ??= ask());
    },
    find(modelId) {
      const id = source.dialect === 'gemini' ? modelId.replace(/^models\//, '') : modelId;
      return last?.models.get(id);
    },
    problem,
    state() {
      const { dialect } = shown();
      return {
        name: source.name,
        label: sourceLabel(shown()),
        dialect,
        local: last?.local ?? source.free,
        baseUrl: showAddresses ? source.baseUrl : null,
        state: last === undefined ? 'unavailable' : isAged() ? 'stale' : 'ready',
        lastError: problem() ?? null,
        latencyMs: last?.latencyMs ?? null,
        models: last?.models.size ?? 0,
        fetchedAt: last?.fetchedAt ?? null,
      };
    },
  };
}

/** Names that sources of this installation have put before the ids of their models. */
export interface KnownNames {
  /**
   * Records the names of this process's sources once, and reads the names that other processes recorded, at most once a
   * minute.
   */
  refresh(): Promise<void>;
  /** Returns true for a name whose source is no longer configured. */
  isFormer(name: string): boolean;
}

const NAMES_FRESH_MS = 60_000;

/**
 * Remembers the names that sources have had. Otherwise `openai/gpt-5` of a removed source could be read as the id of a
 * model at another source.
 */
export function createKnownNames(database: Db, sources: readonly ModelSource[]): KnownNames {
  const present = new Set(sources.map(({ name }) => name));
  const prefixes = sources.length > 1 ? sources.filter(({ prefix }) => prefix) : [];
  let known = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async refresh() {
      if (performance.now() - readAt < NAMES_FRESH_MS) return;
      const names = prefixes.map(({ name }) => name);
      if (names.some((name) => !known.has(name))) {
        await database.run`
          insert into model_source_names (name) select unnest(${names}::text[]) on conflict do nothing
        `;
      }
      const found = await database.rows<{ name: string }>`select name from model_source_names`;
      known = new Set(found.map(({ name }) => name));
      readAt = performance.now();
    },
    isFormer: (name) => known.has(name) && !present.has(name),
  };
}
