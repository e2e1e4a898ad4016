import { definitionForm } from '#core/authoring/definition/index.ts';
import { listCustomSkills, NEEDS, unmetNeeds, type Need, type SkillCatalogue } from '#core/authoring/skills/index.ts';
import type { ServedModel } from '#core/clients/gateway/index.ts';
import { toolsOfProject, type ProjectTool } from '#core/integrations/tools/index.ts';
import type { ModelOption, ModelReference, ProjectModels } from '#core/models/directory/index.ts';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { OwnLists } from './response.ts';

export interface LookUpDeps {
  readonly database: Db;
  readonly models: ProjectModels;
  readonly skills: SkillCatalogue;
}

export interface Named {
  readonly id: string;
  readonly name: string;
}

/** Everything in the project that a draft may name. */
export interface Found {
  readonly model: ModelReference | null;
  readonly drafter: (ModelOption & { readonly served: ServedModel }) | undefined;
  readonly lists: OwnLists;
  readonly tools: readonly ProjectTool[];
  readonly routines: readonly Named[];
  readonly needs: ReadonlyMap<string, readonly Need[]>;
}

const MOST_SKILLS = 200;

export async function lookUp({ database, models, skills }: LookUpDeps, projectId: string): Promise<Found> {
  const [options, used, own, tools, routines] = await Promise.all([
    optionsOf(models, projectId),
    mostUsedModel(database, projectId),
    listCustomSkills(database, projectId, { externalKey: undefined, managedBy: undefined, page: FIRST_PAGE }),
    toolsOfProject(database, projectId),
    routineNames(database, projectId),
  ]);
  const usable = options.filter(({ abilities }) => abilities.tools !== false);
  const option =
    usable.find(({ modelId, connectionId }) => modelId === used?.modelId && connectionId === used.connectionId) ??
    usable.find(({ served }) => served !== null) ??
    options[0];
  const { provider, connectionId = null, modelId } = option ?? {};
  const drafter = [option, ...usable].find((each) => each?.served != null);
  return {
    model: provider === undefined || modelId === undefined ? null : { provider, connectionId, modelId },
    drafter: drafter?.served == null ? undefined : { ...drafter, served: drafter.served },
    lists: {
      skills: [
        ...own.map(({ id, name, description }) => ({ reference: id, name, description: description ?? '' })),
        ...skills.skills.map(({ slug, name, description }) => ({ reference: slug, name, description })),
      ],
      tools: tools.map((tool, at) => ({ id: toolId(at), words: `${tool.toolName} of ${tool.connectionName}` })),
    },
    tools,
    routines,
    needs: new Map(skills.skills.map(({ slug, needs }) => [slug, needs])),
  };
}

const FIRST_PAGE = { limit: MOST_SKILLS, after: undefined };

/** Returns the id of a tool in the request to the model: tools of two connections may have the same name. */
export function toolId(at: number): string {
  return `tool-${at + 1}`;
}

async function optionsOf(models: ProjectModels, projectId: string): Promise<readonly ModelOption[]> {
  try {
    return (await models.list(projectId)).options;
  } catch (error) {
    if (error instanceof AppError && error.code === 'models_unavailable') return [];
    throw error;
  }
}

async function mostUsedModel(db: Db, projectId: string): Promise<ModelReference | undefined> {
  const found = await db.row<{ definition: unknown }>`
    select jsonb_build_object('model', definition -> 'model') as definition from routines
    where project_id = ${projectId} and state <> 'archived'
    group by definition -> 'model' order by count(*) desc, max(id) desc limit 1
  `;
  return found && definitionForm.read(found.definition).value.model;
}

function routineNames(db: Db, projectId: string): Promise<Named[]> {
  return db.rows<Named>`
    select id, name from routines where project_id = ${projectId} and state <> 'archived' order by id desc limit 500
  `;
}

/** Finds the kinds of data that no known tool of the project seems to offer. */
export function missingNeeds(
  { tools, needs: ofSkills }: Found,
  skills: readonly string[],
  needs: readonly Need[],
): Need[] {
  const asked = [...skills.map((slug) => ({ slug, needs: ofSkills.get(slug) ?? [] })), { slug: '', needs }];
  const hints = tools.map(({ toolName, description, connectionName }) => ({
    name: toolName,
    description,
    connection: connectionName,
  }));
  const unmet = new Set(unmetNeeds(asked, hints).map(({ need }) => need));
  return NEEDS.filter((need) => unmet.has(need));
}
