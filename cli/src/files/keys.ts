/** A kind of resource in files. */
export type KindName = 'skill' | 'routine';

/** Pattern of the keys of the API; a file name without its ending is a key. */
export const KEY = /^[a-z0-9][a-z0-9._-]{0,62}$/;

/** Makes a key from a name. */
export function slugOf(name: string, fallback = 'routine'): string {
  const plain = name.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '');
  const slug = plain.replaceAll(/[^a-z0-9._]+/g, '-').replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return slug.slice(0, 60) || fallback;
}

/** Makes an unused key. */
export function freeKey(name: string, taken: ReadonlySet<string>, fallback?: string): string {
  const slug = slugOf(name, fallback);
  for (let count = 1; ; count += 1) {
    const key = count === 1 ? slug : `${slug.slice(0, 55)}-${count}`;
    if (!taken.has(key)) return key;
  }
}
