import { cutPage, type Page } from '#lib/paging.ts';

/**
 * One page of a list as a reply: presented items, and the next page as a `Link` header (RFC 8288). The link is
 * built from our own public address, never from the Host header.
 */
export function listReply<Row extends { readonly id: string }, Item>(
  found: readonly Row[],
  page: Page,
  present: (row: Row) => Item,
  request: { publicUrl: string; path: string; query: object },
): { data: Item[]; headers: Record<string, string> } {
  const { items, nextCursor } = cutPage(found, page);
  const headers: Record<string, string> = {};
  if (nextCursor !== undefined) {
    const url = new URL(request.path, request.publicUrl);
    for (const [name, value] of Object.entries(request.query)) {
      if (value !== undefined)
        url.searchParams.set(name, value instanceof Date ? value.toISOString() : String(value));
    }
    url.searchParams.set('cursor', nextCursor);
    headers['Link'] = `<${url.href}>; rel="next"`;
  }
  return { data: items.map(present), headers };
}
