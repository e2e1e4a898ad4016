import type { ModelAbilities, ServedModel } from '#core/clients/gateway/index.ts';
import { deleteBatch, sql, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

/**
 * Abilities of models that an organization's requests have shown, kept in the database and, for a minute, in this
 * process. They apply to that organization alone, because a refusal depends on the request.
 */
export interface AbilityStore {
  /** Returns the lessons of an organization about a model; empty if there are none, or if they are not read yet. */
  of(model: ServedModel, organizationId: string): ModelAbilities;
  /** Remembers the abilities that an accepted request or a test has shown. */
  learn(model: ServedModel, organizationId: string, learned: ModelAbilities): Promise<void>;
  /** Forgets abilities that a request did not need, unless another process has learned otherwise since. */
  forget(model: ServedModel, organizationId: string, learned: ModelAbilities): Promise<void>;
  /** Reads the lessons of other processes, at most once a minute. Never throws. */
  refresh(): Promise<void>;
}

const FRESH_MS = 60_000;

/** An upgrade may give a server new abilities, so each lesson is tested again after a week. */
const IS_OLD = sql`learned_at < now() - interval '7 days'`;

export function createAbilityStore({ database, log }: { database: Db; log: Log }): AbilityStore {
  let known = new Map<string, ModelAbilities>();
  let readAt = Number.NEGATIVE_INFINITY;
  const keyOf = ({ source, modelId }: ServedModel, organizationId: string) =>
    `${organizationId}\n${source}\n${modelId}`;
  const write = (work: Promise<unknown>) =>
    work.catch((err: unknown) => log.warn({ err }, 'abilities of a model could not be kept'));
  return {
    of: (model, organizationId) => known.get(keyOf(model, organizationId)) ?? {},
    async learn(model, organizationId, learned) {
      const key = keyOf(model, organizationId);
      known.set(key, { ...known.get(key), ...learned });
      await write(
        database.run`
          insert into model_lessons (organization_id, source, model_id, ability, value)
          select ${organizationId}, ${model.source}, ${model.modelId}, key, value
          from jsonb_each(${JSON.stringify(learned)}::jsonb) order by key
          on conflict (organization_id, source, model_id, ability) do update
          set value = excluded.value, learned_at = now()
        `,
      );
    },
    async forget(model, organizationId, learned) {
      const key = keyOf(model, organizationId);
      known.set(key, Object.fromEntries(Object.entries(known.get(key) ?? {}).filter(([name]) => !(name in learned))));
      await write(
        database.run`
          delete from model_lessons l using jsonb_each(${JSON.stringify(learned)}::jsonb) gone
          where l.organization_id = ${organizationId} and l.source = ${model.source} and l.model_id = ${model.modelId}
            and l.ability = gone.key and l.value = gone.value
        `,
      );
    },
    async refresh() {
      if (performance.now() - readAt < FRESH_MS) return;
      readAt = performance.now();
      try {
        const found = await database.rows<ServedModel & { organizationId: string; abilities: ModelAbilities }>`
          select organization_id as "organizationId", source, model_id as "modelId",
            jsonb_object_agg(ability, value) as abilities
          from model_lessons where not ${IS_OLD} group by 1, 2, 3
        `;
        known = new Map(
          found.map(({ abilities, organizationId, ...model }) => [keyOf(model, organizationId), abilities]),
        );
      } catch (err) {
        log.warn({ err }, 'abilities of models could not be read');
      }
    },
  };
}

/** Deletes abilities that are too old to be used, `limit` at most; returns how many. */
export function forgetLessons(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'model_lessons', where: IS_OLD, limit });
}
