import { setTimeout as sleep } from 'node:timers/promises';
import { subjectOf } from '#core/clients/gateway/index.ts';
import type { Core } from '#core/core.ts';
import { listOfferedModels, type OfferedModel } from '#core/models/connections/index.ts';
import type { ModelProviders } from '#core/models/providers/index.ts';
import type { ModelSource } from '#lib/config/index.ts';
import { AppError } from '#lib/errors.ts';
import type { AbilityStore } from './abilities.ts';
import type { FigureStore } from './by-hand.ts';
import { isModelProvider, sameModel, type Looking, type ModelOption, type ModelReference } from './model.ts';
import {
  createCachedSource,
  type CachedSource,
  type CacheSettings,
  type KnownNames,
  type SourceState,
  optionOf,
  type SourcedModel,
} from './source.ts';

/** Models for routines of a project: models of the operator's sources, and of people's accounts. */
export interface ProjectModels {
  /**
   * Returns the newest lists of the sources, followed by the models of the accounts.
   * @throws {AppError} `models_unavailable` when no source has ever given a list
   */
  list(projectId: string): Promise<ModelList>;
  /** Finds the option that a reference names; a model of an account needs no request to a source. */
  find(projectId: string, reference: ModelReference): Promise<ModelOption | undefined>;
  /** Says why no model is found for a reference. */
  explainAbsence(reference: ModelReference): string | undefined;
  sources(): Promise<readonly SourceState[]>;
}

export interface ProjectModelsDeps extends Pick<Core, 'database'> {
  readonly modelProviders: ModelProviders;
  readonly directory: ModelDirectory;
  readonly figures: FigureStore;
}

/**
 * Joins the directory of the sources with the catalogues of accounts. The catalogues are read from the database each
 * time, so that an account's models disappear as soon as the account cannot be used.
 */
export function createProjectModels({
  database,
  modelProviders,
  directory,
  figures,
}: ProjectModelsDeps): ProjectModels {
  const offered = async (projectId: string, connectionId?: string): Promise<ModelOption[]> => {
    if (modelProviders.enabled.length === 0) return [];
    const models = await listOfferedModels(database, modelProviders, projectId, connectionId);
    return models.flatMap((model) => optionOfAccount(model, modelProviders));
  };
  return {
    async list(projectId) {
      const looking = await figures.of(projectId);
      const [list, accounts] = await Promise.all([directory.list(looking), offered(projectId)]);
      return { ...list, options: [...list.options, ...accounts] };
    },
    async find(projectId, reference) {
      const { connectionId } = reference;
      if (connectionId === null) return directory.find(reference, await figures.of(projectId));
      const options = await offered(projectId, connectionId);
      return options.find((option) => sameModel(option, reference));
    },
    explainAbsence: ({ provider, connectionId, modelId }) =>
      provider === 'gateway' && connectionId === null ? directory.explainAbsence(modelId) : undefined,
    sources: () => directory.sources(),
  };
}

/**
 * Makes the option of an account's model. The owner of the account pays for the model, at a price that no provider
 * states.
 */
function optionOfAccount(
  { provider, connectionId, id, name, contextTokens }: OfferedModel,
  modelProviders: ModelProviders,
): ModelOption[] {
  if (!isModelProvider(provider)) return [];
  const takeSchemas = modelProviders.find(provider)?.file.api.options.structuredOutputs ?? false;
  return [
    {
      provider,
      connectionId,
      modelId: id,
      name,
      contextTokens,
      maxOutputTokens: null,
      abilities: { structuredOutputs: Array.isArray(takeSchemas) ? takeSchemas.includes(id) : takeSchemas },
      served: null,
      prices: null,
      origins: {
        contextTokens: contextTokens === null ? null : 'list',
        maxOutputTokens: null,
        prices: null,
      },
    },
  ];
}

export interface ModelList {
  readonly options: readonly ModelOption[];
  /** Time at which the oldest of the lists was fetched. */
  readonly fetchedAt: Date;
  /** True when a source cannot be reached now and its last list is used. */
  readonly stale: boolean;
}

export interface ModelDirectory {
  /**
   * Returns the newest list of every source. @throws {AppError} `models_unavailable` when no source has ever given a
   * list
   */
  list(looking?: Looking): Promise<ModelList>;
  /**
   * Finds the option that a reference names.
   * @throws {AppError} `models_unavailable` when a source that could have it has never given a list
   */
  find(reference: ModelReference, looking?: Looking): Promise<ModelOption | undefined>;
  /** Says why no model is found for a reference: its source is gone, or the model has another id now. */
  explainAbsence(modelId: string): string;
  /** Returns the state of each source, after asking the sources whose list is old. */
  sources(): Promise<readonly SourceState[]>;
}

export interface DirectorySettings extends CacheSettings {
  readonly sources: readonly ModelSource[];
  readonly abilities: AbilityStore;
  readonly names: KnownNames;
}

const PATIENCE_MS = 1_000;

/**
 * Joins the lists of all sources. Each list is cached separately, so a source that is down hides no model of the
 * others. With several sources, ids begin with the name of their source, unless the operator has turned that off. A
 * reference never leads to a source that it does not name.
 */
export function createModelDirectory(settings: DirectorySettings): ModelDirectory {
  const { abilities, names } = settings;
  const sources = settings.sources.map((source) => createCachedSource(source, settings));
  const isPrefixed = ({ source }: CachedSource) => sources.length > 1 && source.prefix;
  // Never read an id of a removed source as the id of a model at another source.
  const isTaken = (modelId: string) => names.isFormer(modelId.split('/', 1)[0] ?? '');
  const publicId = (source: CachedSource, { served: { modelId } }: SourcedModel) =>
    isPrefixed(source) || isTaken(modelId) ? `${source.source.name}/${modelId}` : modelId;
  const hasList = (source: CachedSource) => source.last() !== undefined;
  const shownTo = (looking: Looking | undefined, model: SourcedModel, id: string) =>
    optionOf(model, id, {
      learned: looking === undefined ? {} : abilities.of(model.served, looking.organizationId),
      byHand: looking?.byHand(model.served),
    });

  /**
   * Asks the sources whose list is old, and waits no longer than `enough`. If a list exists, no caller waits for a
   * server that hangs.
   */
  async function refresh(asked: readonly CachedSource[], enough: (rests: boolean) => Promise<unknown>): Promise<void> {
    if (asked.some((source) => source.isAged())) {
      const rests = sources.some(hasList);
      const all = Promise.all(asked.map((source) => source.refresh(rests)));
      await Promise.race([all, enough(rests)]);
    }
    await Promise.all([abilities.refresh(), names.refresh()]);
  }

  /** Waits until the first source has a list, and then a moment for the other sources. */
  async function untilFirst(rests: boolean): Promise<void> {
    if (!rests) {
      const listed = sources.map(async (source) => {
        await source.refresh(rests);
        if (!hasList(source)) throw new Error('no list');
      });
      await Promise.allSettled([Promise.any(listed)]);
    }
    await patience();
  }

  function unavailable(of: readonly CachedSource[]): AppError {
    const words = of.flatMap((source) => source.problem() ?? []);
    const message = ['No list of models has arrived yet.', ...words].join(' ');
    return new AppError('models_unavailable', message, { 'Retry-After': '5' });
  }

  /** Returns the source that an id names, and the rest of the id. */
  function named(modelId: string) {
    const source = sources.find(({ source: { name } }) => modelId.startsWith(`${name}/`));
    return source && { source, rest: modelId.slice(source.source.name.length + 1) };
  }

  return {
    async list(looking) {
      await refresh(sources, untilFirst);
      const lists = sources.flatMap((source) => source.last() ?? []);
      const [oldest] = lists.toSorted((a, b) => a.fetchedAt.getTime() - b.fetchedAt.getTime());
      if (oldest === undefined) throw unavailable(sources);
      const options = new Map<string, ModelOption>();
      for (const source of sources) {
        for (const model of source.last()?.models.values() ?? []) {
          const id = publicId(source, model);
          if (!options.has(id)) options.set(id, shownTo(looking, model, id));
        }
      }
      const stale = sources.some((source) => hasList(source) && source.isAged());
      return { options: [...options.values()], fetchedAt: oldest.fetchedAt, stale };
    },

    async find({ provider, connectionId, modelId }, looking) {
      if (provider !== 'gateway' || connectionId !== null) return undefined;
      const alias = named(modelId);
      const candidates = sources.filter((source) => source === alias?.source || !isPrefixed(source));
      await refresh(candidates, () => (candidates.every(hasList) ? patience() : new Promise(() => undefined)));
      const exact = candidates.map((source) =>
        source.find(isPrefixed(source) || isTaken(modelId) ? (alias?.rest ?? '') : modelId),
      );
      // If two models have the same id, the list shows the first, and a reference means the first.
      const found = exact.find((model) => model !== undefined) ?? alias?.source.find(alias.rest);
      if (found !== undefined) return shownTo(looking, found, modelId);
      const unread = candidates.filter((source) => !hasList(source));
      if (unread.length > 0) throw unavailable(unread);
      return undefined;
    },

    explainAbsence(modelId) {
      const alias = named(modelId);
      if (alias !== undefined) {
        return `${subjectOf(alias.source.state())} no longer lists the model ${alias.rest}.`;
      }
      const now = sources.flatMap((source) => {
        const model = source.find(modelId);
        return model === undefined ? [] : [publicId(source, model)];
      });
      const [prefix, ...rest] = modelId.split('/');
      const chosenAgain = now.length === 0 ? '' : ` You can choose ${now.join(' or ')} instead.`;
      if (isTaken(modelId)) {
        return `The model source ${prefix} is no longer configured, so its model ${rest.join('/')} is gone too.${chosenAgain}`;
      }
      if (now.length > 0) {
        return `There is now more than one model source, so choose the model again as ${now.join(' or ')}.`;
      }
      const configured = sources.map(({ source }) => source.name).join(', ');
      const missing = rest.length === 0 ? '' : `, and none is called ${prefix}`;
      return `No model source lists ${modelId}${missing}. The sources are: ${configured}.`;
    },

    async sources() {
      await refresh(sources, untilFirst);
      return sources.map((source) => source.state());
    },
  };
}

function patience(): Promise<void> {
  return sleep(PATIENCE_MS, undefined, { ref: false });
}
