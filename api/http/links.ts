import { cutPage, type Page } from '#lib/paging.ts';

/** Returns a page of a list as a reply: presented items, and where the next page begins if there is one. */
export function listReply<Row extends { readonly id: string }, Item>(
  found: readonly Row[],
  page: Page,
  present: (row: Row) => Item,
): { data: Item[]; nextCursor: string | undefined } {
  const { items, nextCursor } = cutPage(found, page);
  return { data: items.map(present), nextCursor };
}

/**
 * Returns the `Link` header of a page that has a next one (RFC 8288): the same request with its cursor. It is built
 * from our own public address, never from the Host header.
 */
export function linkToNext(cursor: string, request: { publicUrl: string; path: string; query: object }): string {
  const url = new URL(request.path, request.publicUrl);
  for (const [name, value] of Object.entries(request.query)) {
    if (value !== undefined) url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  url.searchParams.set('cursor', cursor);
  return `<${url.href}>; rel="next"`;
}
