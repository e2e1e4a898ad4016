import { empty, sql, type Sql } from './database/index.ts';
import { idPattern, type Resource } from './ids.ts';

/** One page of a list that is ordered by id, newest first (ids sort by time). `after` is the last id seen. */
export interface Page {
  readonly limit: number;
  readonly after: string | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 200;

/** Writes the keyset condition of a page: the thousandth page costs as much as the first. */
export function afterCursor(page: Page, column: Sql = sql`id`): Sql {
  return page.after === undefined ? empty : sql`and ${column} < ${page.after}`;
}

/** Removes the extra row that queries fetch to detect a next page, and names its cursor. */
export function cutPage<Item extends { readonly id: string }>(
  found: readonly Item[],
  page: Page,
): { items: Item[]; nextCursor: string | undefined } {
  const items = found.slice(0, page.limit);
  const last = items.at(-1);
  const more = found.length > page.limit && last !== undefined;
  return { items, nextCursor: more ? last.id : undefined };
}

/** Sort key of a list: ids, revisions, steps of a run, or ids of custom skills and then curated slugs. */
export type Order = Resource | 'revision' | 'step' | 'skillOrSlug';

/**
 * Matches the cursors of a list: the id after which the next page begins. Callers take them from the `Link` header;
 * because they are plain ids, OpenAPI can state exactly which are valid.
 */
export function cursorPattern(of: Order): RegExp {
  if (of === 'skillOrSlug') return SKILL_OR_SLUG;
  if (of === 'step') return STEP;
  return of === 'revision' ? REVISION : idPattern(of);
}

const SKILL_OR_SLUG = new RegExp(`${idPattern('skill').source}|^[a-z0-9]+(?:-[a-z0-9]+)*$`);
const STEP = /^(?:0|[1-9]\d{0,8})$/;
const REVISION = /^[1-9]\d{0,8}$/;
