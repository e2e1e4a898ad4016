/** Limit of addresses that are read from a text; a check asks for far fewer. */
const MAX_READ = 10_000;

/**
 * Counts the distinct web addresses in a text. Addresses that differ only in their fragments are one source.
 * @param enough stops the count
 */
export function countSources(text: string, enough: number): number {
  const written = new Set<string>();
  const sources = new Set<string>();
  for (const [address] of text.matchAll(ADDRESS)) {
    if (written.has(address)) continue;
    written.add(address);
    const url = URL.parse(address.replace(TRAILING, ''));
    if (url === null) continue;
    url.hash = '';
    sources.add(url.href);
    if (sources.size >= enough || written.size >= MAX_READ) break;
  }
  return sources.size;
}

/** Matches an address up to where prose, Markdown, HTML or JSON ends it. */
const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}|\\^]{1,2000}/gi;

/** Punctuation that ends a sentence rather than an address. */
const TRAILING = /[.,;:!?*_~]{1,100}$/;
