import {
  listOfferedModels,
  type ModelProviders,
  type OfferedModel,
} from '#core/model-connections/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { ProviderFile } from '#lib/provider-file/index.ts';
import type { ModelDirectory, ModelList } from './directory.ts';
import { isModelProvider, sameModel, type ModelOption, type ModelReference } from './model.ts';

/** Models on which routines of a project can run: those of the managed gateway, and those of people's accounts. */
export interface ProjectModels {
  /**
   * Returns the gateway's newest list with the models of the accounts behind it.
   * @throws {AppError} `models_unavailable` when the gateway has never given a list
   */
  list(projectId: string): Promise<ModelList>;
  /** Finds the option that a reference names. The gateway is not asked for one of an account. */
  find(projectId: string, reference: ModelReference): Promise<ModelOption | undefined>;
}

export interface ProjectModelsDeps {
  readonly database: Db;
  readonly modelProviders: ModelProviders;
  readonly gateway: ModelDirectory;
}

/**
 * Joins the directory of the gateway with the catalogues of accounts. Those are read from the database each time and
 * never cached, so that an account's models are gone the moment it cannot be used.
 */
export function createProjectModels({
  database,
  modelProviders,
  gateway,
}: ProjectModelsDeps): ProjectModels {
  const offered = async (projectId: string, connectionId?: string): Promise<ModelOption[]> => {
    if (modelProviders.enabled.length === 0) return [];
    const models = await listOfferedModels(database, modelProviders, projectId, connectionId);
    return models.flatMap((model) => optionOf(model, modelProviders));
  };
  return {
    async list(projectId) {
      const [list, accounts] = await Promise.all([gateway.list(), offered(projectId)]);
      return { ...list, options: [...list.options, ...accounts] };
    },
    async find(projectId, reference) {
      const { connectionId } = reference;
      if (connectionId === null) return gateway.find(reference);
      const options = await offered(projectId, connectionId);
      return options.find((option) => sameModel(option, reference));
    },
  };
}

/** Accounts are paid for by their owners, at prices that no provider tells. */
function optionOf(
  { provider, connectionId, id, name, contextTokens }: OfferedModel,
  modelProviders: ModelProviders,
): ModelOption[] {
  if (!isModelProvider(provider)) return [];
  return [
    {
      provider,
      connectionId,
      modelId: id,
      name,
      contextTokens,
      maxOutputTokens: null,
      abilities: { structuredOutputs: takesSchemas(modelProviders.find(provider)?.file, id) },
      served: null,
      prices: null,
    },
  ];
}

function takesSchemas(file: ProviderFile | undefined, modelId: string): boolean {
  const models = file?.api.options.structuredOutputs ?? false;
  return Array.isArray(models) ? models.includes(modelId) : models;
}
