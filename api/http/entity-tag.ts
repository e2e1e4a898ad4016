import { hash } from 'node:crypto';
import type { IsExpected } from '#lib/external-keys.ts';

/** Returns the header with the entity tag of a version (RFC 9110, section 8.8.3). */
export function etagOf({ version }: { readonly version: number }): { ETag: string } {
  return { ETag: `"${version}"` };
}

/** Returns a weak tag of a content: equal contents have equal tags, even if the bytes of the responses differ. */
export function contentTag(...parts: readonly string[]): string {
  return `W/"${hash('sha256', JSON.stringify(parts), 'base64url').slice(0, 22)}"`;
}

/** Tells whether `If-None-Match` lists the tag, weak or strong, or `*` (RFC 9110, section 13.1.2). */
export function hasSeen(ifNoneMatch: string | undefined, tag: string): boolean {
  const opaque = tag.replace(/^W\//, '');
  const listed = ifNoneMatch?.split(',').map((each) => each.trim().replace(/^W\//, '')) ?? [];
  return listed.some((each) => each === opaque || each === '*');
}

/** Returns the versions that `If-Match` lists; undefined if any is allowed. A weak or unknown tag names no version. */
export function versionsIn(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || isAny(ifMatch)) return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const version = /^"(\d{1,9})"$/.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}

/** Returns a request's conditions on the resource that it replaces (RFC 9110, sections 13.1.1 and 13.1.2). */
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
