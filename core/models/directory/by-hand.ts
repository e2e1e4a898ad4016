import { LRUCache } from 'lru-cache';
import type { ServedModel } from '#core/clients/gateway/index.ts';
import type { Core } from '#core/core.ts';
import type { Prices } from '#core/foundation/cost/index.ts';
import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { assertAdmin } from '#core/accounts/organizations/index.ts';
import { transaction, type Database } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import type { FigureOrigin, Figures, Looking, ModelOption, SomeFigures } from './model.ts';

/** A change of the figures that an organization entered for a model; null removes a figure. */
export interface FiguresPatch {
  readonly contextTokens?: number | null | undefined;
  readonly maxOutputTokens?: number | null | undefined;
  readonly prices?: Prices | null | undefined;
}

/** Figures that organizations enter for models whose lists do not state them. */
export interface FigureStore {
  /** Reads the figures of a project's organization, at most some seconds old; undefined without such a project. */
  of(projectId: string): Promise<Looking | undefined>;
  /** Empties the cache of this process, so that this process sees its own change at once. */
  forget(): void;
}

/**
 * Time after which this process sees a change by another process. A step reads the figures of its project at most this
 * often.
 */
const FRESH_MS = 5_000;

interface Entered extends ServedModel {
  readonly organizationId: string;
  /** Figures of a model; null in the only row of an organization without figures. */
  readonly figures: SomeFigures | null;
}

/** @param takesPrices false if the operator caps cost: a tenant's own prices could undercut the cap */
export function createFigureStore(database: Database, takesPrices: boolean): FigureStore {
  const read = new LRUCache<string, Looking>({
    max: 10_000,
    ttl: FRESH_MS,
    fetchMethod: async (projectId) => {
      const found = await database.rows<Entered>`
        select p.organization_id as "organizationId", f.source, f.model_id as "modelId", f.figures from projects p
        left join model_figures f on f.organization_id = p.organization_id where p.id = ${projectId}
      `;
      const [first] = found;
      if (first === undefined) return undefined;
      const entered = new Map(found.flatMap((each) => (each.figures ? [[keyOf(each), usable(each.figures)]] : [])));
      return { organizationId: first.organizationId, byHand: (model) => entered.get(keyOf(model)) };
    },
  });
  const usable = ({ prices, ...figures }: SomeFigures): SomeFigures => {
    if (!takesPrices || !prices) return figures;
    return { ...figures, prices: { ...prices, cachedInput: prices.cachedInput ?? null } };
  };
  return { of: (projectId) => read.fetch(projectId), forget: () => read.clear() };
}

function keyOf({ source, modelId }: ServedModel): string {
  return `${source}\n${modelId}`;
}

/** The most models that an organization has figures for. */
const MAX_MODELS = 500;

/** Origins that outrank figures entered by hand. */
const BETTER: ReadonlySet<FigureOrigin> = new Set(['list', 'operator', 'local', 'learned']);

/**
 * Changes the figures that an organization has entered for a model.
 * @param option the model as the organization sees it now
 * @throws {AppError} `forbidden` for a member, and for prices if the operator caps cost; `invalid_request` for a figure
 * that a better origin states; `limit_reached`
 */
export async function patchFigures(
  { database, maxCostUsdPerOrganization }: Pick<Core, 'database' | 'maxCostUsdPerOrganization'>,
  option: ModelOption,
  input: {
    readonly organizationId: string;
    readonly by: Actor & { readonly id: string };
    readonly patch: FiguresPatch;
  },
): Promise<void> {
  const { served, origins, modelId } = option;
  const { organizationId, by, patch } = input;
  if (served === null) throw new AppError('invalid_model', 'modelId: no model source lists this model');
  await transaction(database, async (tx) => {
    await assertAdmin(tx, { organizationId, userId: by.id });
    if (patch.prices && maxCostUsdPerOrganization !== undefined) {
      const message = 'The operator limits what each organization may spend, so only the operator can set prices.';
      throw new AppError('forbidden', message);
    }
    const known = FIGURE_NAMES.filter((name) => patch[name] && BETTER.has(origins[name] ?? 'by_hand'));
    if (known.length > 0) {
      throw invalid(known.map((path) => ({ path, message: KNOWN[origins[path] ?? ''] ?? '' })));
    }
    const others = await tx.value<number>`
      select count(*) from model_figures
      where organization_id = ${organizationId} and (source, model_id) <> (${served.source}, ${served.modelId})
    `;
    if (others >= MAX_MODELS) {
      throw new AppError(
        'limit_reached',
        `${MAX_MODELS} models of the organization have figures by hand, the most allowed.`,
      );
    }
    const changed = JSON.stringify(patch);
    const { contextTokens, maxOutputTokens, prices } = patch;
    await tx.run`
      insert into model_figures (organization_id, source, model_id, figures)
      values (${organizationId}, ${served.source}, ${served.modelId}, jsonb_strip_nulls(${changed}::jsonb))
      on conflict (organization_id, source, model_id) do update
      set figures = jsonb_strip_nulls(model_figures.figures || ${changed}::jsonb), updated_at = now()
    `;
    await recordAudit(tx, {
      organizationId,
      by,
      action: 'model_figures.changed',
      targetId: modelId,
      details: {
        ...(contextTokens === undefined ? {} : { contextTokens }),
        ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
        ...(prices === undefined ? {} : { inputPrice: prices?.input ?? null, outputPrice: prices?.output ?? null }),
      },
    });
  });
}

const FIGURE_NAMES = ['contextTokens', 'maxOutputTokens', 'prices'] as const satisfies (keyof Figures)[];

const KNOWN: Readonly<Record<string, string>> = {
  list: 'the model’s server states this figure, which takes precedence',
  operator: 'the operator states this figure, which takes precedence',
  local: 'the model runs on a server of the operator and costs nothing',
  learned: 'the model’s server has named this figure, which takes precedence',
};
