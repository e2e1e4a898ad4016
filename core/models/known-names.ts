import type { ModelSource } from '#lib/config/index.ts';
import { execute, rows, sql, type Db } from '#lib/database/index.ts';

/** Names that sources of this installation have put before the ids of their models. */
export interface KnownNames {
  /** Records those of this process once, and reads those of others at most once a minute. */
  refresh(): Promise<void>;
  /** Returns true for a name whose source is no longer configured. */
  isFormer(name: string): boolean;
}

const FRESH_MS = 60_000;

/**
 * Remembers the names of sources, so that `openai/gpt-5` of a source that was removed is never read as the id that a
 * model has at another one.
 */
export function createKnownNames(database: Db, sources: readonly ModelSource[]): KnownNames {
  const present = new Set(sources.map(({ name }) => name));
  const prefixes = sources.length > 1 ? sources.filter(({ prefix }) => prefix) : [];
  let known = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  return {
    async refresh() {
      if (performance.now() - readAt < FRESH_MS) return;
      const names = prefixes.map(({ name }) => name);
      if (names.some((name) => !known.has(name))) {
        await execute(
          database,
          sql`
            insert into model_source_names (name) select unnest(${names}::text[]) on conflict do nothing
          `,
        );
      }
      const found = await rows<{ name: string }>(
        database,
        sql`select name from model_source_names`,
      );
      known = new Set(found.map(({ name }) => name));
      readAt = performance.now();
    },
    isFormer: (name) => known.has(name) && !present.has(name),
  };
}
