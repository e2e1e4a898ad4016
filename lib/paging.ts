import { AppError } from './errors.ts';
import { empty, sql, type Sql } from './database/index.ts';
import { idPattern, type Resource } from './ids.ts';

/** One page of a list that is ordered by id, newest first (ids sort by time). `after` is the last id seen. */
export interface Page {
  readonly limit: number;
  readonly after: string | undefined;
}

export const DEFAULT_PAGE_SIZE = 100;
export const MAX_PAGE_SIZE = 200;

/** Writes the keyset condition of a page: costs the same on the thousandth page as on the first. */
export function afterCursor(page: Page, column: Sql = sql`id`): Sql {
  return page.after === undefined ? empty : sql`and ${column} < ${page.after}`;
}

/** Cuts the extra row that queries fetch to learn whether there is a next page, and names the cursor for it. */
export function cutPage<Item extends { readonly id: string }>(
  found: readonly Item[],
  page: Page,
): { items: Item[]; nextCursor: string | undefined } {
  const items = found.slice(0, page.limit);
  const last = items.at(-1);
  const more = found.length > page.limit && last !== undefined;
  return { items, nextCursor: more ? encodeCursor(last.id) : undefined };
}

export function encodeCursor(id: string): string {
  return Buffer.from(id).toString('base64url');
}

/** The form of the cursors of a list that is ordered by revision. */
const REVISION = /^[1-9]\d{0,8}$/;

/** @throws {AppError} `invalid_request` when the text is not a cursor that such a list gives out */
export function decodeCursor(cursor: string, of: Resource | 'revision'): string {
  const pattern = of === 'revision' ? REVISION : idPattern(of);
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!pattern.test(id) || encodeCursor(id) !== cursor) {
    throw new AppError('invalid_request', 'cursor: not a cursor of this list');
  }
  return id;
}
