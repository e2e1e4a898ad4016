import { z } from 'zod';
import { AppError } from '#lib/errors.ts';
import { cutPage, type Page } from '#lib/paging.ts';
import type { RouteSpec } from '../route.ts';

/** Returns a page of a list as a reply: presented items, and the start of the next page. */
export function listReply<Row extends { readonly id: string }, Item>(
  found: readonly Row[],
  page: Page,
  present: (row: Row) => Item,
): { data: Item[]; nextCursor: string | undefined } {
  const { items, nextCursor } = cutPage(found, page);
  return { data: items.map(present), nextCursor };
}

/** Tells whether an operation returns a list in pages. */
export function isPaged({ query }: RouteSpec): boolean {
  return query instanceof z.ZodObject && 'cursor' in query.shape;
}

/**
 * Reads `page=body` from the query of a list: the body then has the next cursor. Operations do not declare this
 * parameter, because tools over MCP always use it.
 * @throws {AppError} `invalid_request`
 */
export function pageForm(spec: RouteSpec, given: Readonly<Record<string, unknown>>) {
  const { page, ...query } = given;
  if (page === undefined || !isPaged(spec)) return { query: given, inBody: false };
  if (page === 'body') return { query, inBody: true };
  throw new AppError('invalid_request', 'page: must be body, or left out');
}

/**
 * Returns the `Link` header that leads to the next page of a list (RFC 8288): the same request with the next cursor.
 * The link has the configured public address, never the Host header.
 */
export function linkToNext(cursor: string, request: { publicUrl: string; path: string; query: object }): string {
  const url = new URL(request.path, request.publicUrl);
  for (const [name, value] of Object.entries(request.query)) {
    if (value !== undefined) url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  url.searchParams.set('cursor', cursor);
  return `<${url.href}>; rel="next"`;
}
