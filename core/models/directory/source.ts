import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { ONLY_SOURCE, type ModelDialect, type ModelSource } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';
import { ABILITIES_OF_DIALECT, type ModelAbilities } from './abilities.ts';
import { catalogueFigures } from './catalogue.ts';
import { readGatewayList, type ListedModel, type ListedModels } from './gateway-list.ts';
import { firstKnown, type FigureOrigin, type ModelOption, type SomeFigures } from './model.ts';
import { networkFault, SourceError, faultInWords, sourceLabel, subjectOf, type SourceFault } from './source-fault.ts';

const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Asks a server for its models.
 * @throws {SourceError} where it gives no list with a model that writes text
 */
async function fetchModels(source: ModelSource, timeoutMs: number): Promise<ListedModels> {
  const { status, text } = await request(source, timeoutMs);
  if (text === undefined) throw new SourceError({ kind: 'status', status });
  if (text.length > MAX_LIST_BYTES) throw new SourceError({ kind: 'too_large' });
  let listed: ListedModels;
  try {
    listed = readGatewayList(JSON.parse(text), source.dialect);
  } catch (error) {
    throw new SourceError({ kind: 'not_a_list' }, error);
  }
  if (listed.models.length === 0) throw new SourceError({ kind: 'empty' });
  return listed;
}

async function request(source: ModelSource, timeoutMs: number) {
  try {
    const response = await fetch(`${source.baseUrl}/models${PAGES[source.dialect] ?? ''}`, {
      headers: headersOf(source),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    if (response.ok) return { status: response.status, text: await response.text() };
    await response.body?.cancel();
    return { status: response.status, text: undefined };
  } catch (error) {
    throw new SourceError(networkFault(error, timeoutMs), error);
  }
}

/** Anthropic lists twenty models a page. */
const PAGES: Partial<Record<ModelDialect, string>> = { anthropic: '?limit=1000' };

function headersOf({ apiKey, dialect }: ModelSource): Record<string, string> {
  if (apiKey === undefined) return {};
  // Anthropic's compatible endpoint takes a bearer key for calls, but not for its list.
  return dialect === 'anthropic'
    ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    : { Authorization: `Bearer ${apiKey}` };
}

/** A source with what its list says of its server. */
export interface SeenSource extends ModelSource {
  /** True for a server of the operator's own, whose models cost nothing. */
  readonly local: boolean;
}

const OWN_SERVERS: ReadonlySet<ModelDialect> = new Set(['llama.cpp', 'vllm', 'ollama', 'lm-studio']);

/**
 * Completes a source that the operator did not describe by what its list shows: a server at a private address that
 * calls itself Ollama costs nothing. At a public address it may be a paid service.
 */
export function seenSource(source: ModelSource, found: ModelDialect | undefined): SeenSource {
  const dialect = source.dialect === 'other' ? (found ?? 'other') : source.dialect;
  const isOwn = source.name === ONLY_SOURCE && OWN_SERVERS.has(dialect) && isPrivate(source.baseUrl);
  return { ...source, dialect, local: source.free || isOwn };
}

function isPrivate(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) === 0) return host === 'localhost' || /\.(local|internal|lan)$/.test(host);
  const range = ipaddr.process(host).range();
  return range === 'loopback' || range === 'private' || range === 'uniqueLocal';
}

/** Figures of a model, by origins that rank above learned figures, and below them. */
export interface SourcedModel {
  readonly served: { readonly source: string; readonly modelId: string };
  readonly name: string;
  readonly before: readonly (readonly [FigureOrigin, SomeFigures])[];
  readonly after: readonly (readonly [FigureOrigin, SomeFigures])[];
  readonly abilities: ModelOption['abilities'];
}

/** Collects what list and configuration say of a model; what was learned or entered since comes on top. */
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
  // A look-up compares the id with hundreds of others, which adds up where thousands are listed.
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

/** Makes the option, with what the organization has learned of its server and what it entered. */
export function optionOf(
  model: SourcedModel,
  modelId: string,
  { learned: known, byHand }: { learned: ModelAbilities; byHand?: SomeFigures | undefined },
): ModelOption {
  const { maxOutputTokens, contextTokens, ...learned } = known;
  const { figures, origins } = firstKnown([
    // A maximum that the server named in a refusal outweighs its list, which may not know how the server was started.
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

/** A source as people see it. */
export interface SourceState {
  readonly name: string;
  readonly label: string;
  readonly dialect: ModelDialect;
  /** True for a server of the operator's own, whose models cost nothing. */
  readonly local: boolean;
  /** Null where callers may not see it. */
  readonly baseUrl: string | null;
  readonly state: 'ready' | 'stale' | 'unavailable';
  /** One sentence on the last request where it failed, with the remedy. */
  readonly lastError: string | null;
  /** Duration of the last request that gave a list. */
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
  /** Its last list; undefined until it has given one. */
  last(): LastList | undefined;
  /** Tells whether its list is missing or older than a minute. */
  isAged(): boolean;
  /**
   * Asks for its list, where that has aged. One request is in flight at a time.
   * @param rests leaves it alone for some seconds after a failure
   */
  refresh(rests: boolean): Promise<void>;
  find(modelId: string): SourcedModel | undefined;
  /** One sentence on its last request; undefined where nothing is wrong. */
  problem(): string | undefined;
  state(): SourceState;
}

export interface CacheSettings {
  readonly log: Log;
  /** False keeps addresses and names of variables out of what callers are told. */
  readonly showAddresses: boolean;
  readonly timeoutMs?: number;
}

/** Time for which a list is fresh. */
const FRESH_MS = 60_000;
const RETRY_AFTER_FAILURE_MS = 5_000;

/** Keeps the last list of a source, and what its last request came back with. */
export function createCachedSource(source: ModelSource, settings: CacheSettings): CachedSource {
  const { log, showAddresses, timeoutMs = 10_000 } = settings;
  let last: LastList | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let fault: SourceFault | undefined;
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
      fault = err instanceof SourceError ? err.fault : { kind: 'network', code: undefined };
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
