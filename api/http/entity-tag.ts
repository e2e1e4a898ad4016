/** Returns the header with the entity tag of a version (RFC 9110, section 8.8.3). */
export function etagOf({ version }: { readonly version: number }): { ETag: string } {
  return { ETag: `"${version}"` };
}

/** Returns the versions that `If-Match` lists. A weak tag, or one we never gave out, names none. */
export function versionsIn(ifMatch: string | undefined): number[] | undefined {
  return ifMatch?.split(',').flatMap((tag) => {
    const version = /^"(\d{1,9})"$/.exec(tag.trim())?.[1];
    return version === undefined ? [] : [Number(version)];
  });
}
