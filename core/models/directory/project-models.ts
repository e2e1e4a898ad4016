import type { Core } from '#core/core.ts';
import { listOfferedModels, type OfferedModel } from '#core/models/connections/index.ts';
import type { ModelProviders } from '#core/models/providers/index.ts';
import type { FigureStore } from './by-hand.ts';
import type { SourceState } from './source.ts';
import type { ModelDirectory, ModelList } from './directory.ts';
import { isModelProvider, sameModel, type ModelOption, type ModelReference } from './model.ts';

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
    return models.flatMap((model) => optionOf(model, modelProviders));
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
function optionOf(
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
