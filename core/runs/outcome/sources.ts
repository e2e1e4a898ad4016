/** Reads no further address in a text that has as many as this: a check asks for far fewer. */
const MAX_READ = 10_000;

/**
 * Counts the distinct web addresses that a text names. Two that differ in their fragment alone are one source.
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

/** Ends where prose, Markdown, HTML and JSON end an address. */
const ADDRESS = /https?:\/\/[^\s<>"'`()[\]{}|\\^]{1,2000}/gi;

/** Punctuation that ends a sentence rather than an address. */
const TRAILING = /[.,;:!?*_~]{1,100}$/;
