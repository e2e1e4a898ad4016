import type { IsExpected } from '#lib/external-keys.ts';

/** Returns the header with the entity tag of a version (RFC 9110, section 8.8.3). */
export function etagOf({ version }: { readonly version: number }): { ETag: string } {
  return { ETag: `"${version}"` };
}

/** Returns the versions that `If-Match` lists; undefined for any. A weak or unknown tag names none. */
export function versionsIn(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || isAny(ifMatch)) return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const version = /^"(\d{1,9})"$/.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Returns what a request expects of the resource that it replaces (RFC 9110, sections 13.1.1 and 13.1.2). */
export function expectedBy(conditions: {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}): IsExpected {
  const { ifMatch, ifNoneMatch } = conditions;
  return (version) =>
    (ifMatch === undefined || isNamed(ifMatch, version)) &&
    (ifNoneMatch === undefined || !isNamed(ifNoneMatch, version));
}

function isNamed(tags: string, version: number | undefined): boolean {
  return version !== undefined && (isAny(tags) || versionsIn(tags)?.includes(version) === true);
}

function isAny(tags: string): boolean {
  return tags.trim() === '*';
}
