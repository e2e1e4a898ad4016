import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#lib/errors.ts';
import type { ModelSource } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';
import { ABILITIES_OF_DIALECT, type AbilityStore } from './abilities.ts';
import { readGatewayList } from './gateway-list.ts';
import { sameModel, type ModelOption, type ModelReference } from './model.ts';

export interface ModelList {
  readonly options: readonly ModelOption[];
  readonly fetchedAt: Date;
  /** The gateway cannot be reached now; this is its last list. */
  readonly stale: boolean;
}

export interface ModelDirectory {
  /** Returns the newest list. @throws {AppError} `models_unavailable` when there has never been one */
  list(): Promise<ModelList>;
  /** Finds the option that a reference names. */
  find(reference: ModelReference): Promise<ModelOption | undefined>;
}

export interface DirectorySettings {
  readonly source: ModelSource;
  readonly abilities: AbilityStore;
  readonly log: Log;
  readonly timeoutMs?: number;
}

/**
 * Caches the gateway's live list briefly. Only one request is in flight at a time, however many callers there are.
 * During an outage it returns the last list, marked stale, and asks the gateway again at most every few seconds.
 */
export function createModelDirectory(settings: DirectorySettings): ModelDirectory {
  let last: { options: readonly ModelOption[]; fetchedAt: Date } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let inFlight: Promise<void> | undefined;

  async function refresh(): Promise<void> {
    try {
      last = { options: await fetchList(settings), fetchedAt: new Date() };
      failedAt = Number.NEGATIVE_INFINITY;
    } catch (err) {
      failedAt = performance.now();
      settings.log.warn({ err }, 'the model list could not be fetched');
    } finally {
      inFlight = undefined;
    }
  }

  async function list(): Promise<ModelList> {
    const age =
      last === undefined ? Number.POSITIVE_INFINITY : Date.now() - last.fetchedAt.getTime();
    const resting = performance.now() - failedAt < RETRY_AFTER_FAILURE_MS;
    if (age >= FRESH_MS && !(resting && last !== undefined)) {
      inFlight ??= refresh();
      // With a list at hand no caller waits long for a gateway that hangs.
      await (last === undefined ? inFlight : Promise.race([inFlight, patience()]));
    }
    if (last === undefined) {
      throw new AppError('models_unavailable', undefined, { 'Retry-After': '5' });
    }
    await settings.abilities.refresh();
    return { ...last, stale: Date.now() - last.fetchedAt.getTime() >= FRESH_MS };
  }

  return {
    async list() {
      const { options, ...rest } = await list();
      return { ...rest, options: options.map((option) => withAbilities(option, settings)) };
    },
    async find(reference) {
      const { options } = await list();
      const found = options.find((option) => sameModel(option, reference));
      return found && withAbilities(found, settings);
    },
  };
}

/** Adds what is known of the dialect and what was learned: the server's own behaviour outweighs its list. */
function withAbilities(option: ModelOption, { source, abilities }: DirectorySettings): ModelOption {
  const learned = option.served === null ? {} : abilities.of(option.served);
  return {
    ...option,
    contextTokens: option.contextTokens ?? learned.contextTokens ?? null,
    maxOutputTokens: learned.maxOutputTokens ?? option.maxOutputTokens,
    abilities: { ...ABILITIES_OF_DIALECT[source.dialect], ...option.abilities, ...learned },
  };
}

/** Time for which a list is fresh. */
const FRESH_MS = 60_000;
const RETRY_AFTER_FAILURE_MS = 5_000;
const PATIENCE_MS = 1_000;

function patience(): Promise<void> {
  return sleep(PATIENCE_MS, undefined, { ref: false });
}

const MAX_LIST_BYTES = 16 * 1024 * 1024;

async function fetchList({ source, timeoutMs }: DirectorySettings): Promise<ModelOption[]> {
  const { baseUrl, apiKey } = source;
  const response = await fetch(`${baseUrl}/models`, {
    headers: apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.timeout(timeoutMs ?? 10_000),
    redirect: 'error',
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the gateway answered ${response.status} to the model list`);
  }
  const text = await response.text();
  if (text.length > MAX_LIST_BYTES) throw new Error('the model list is too large');
  const options = readGatewayList(JSON.parse(text), source.name);
  if (options.length === 0) throw new Error('the model list is empty');
  return options;
}
