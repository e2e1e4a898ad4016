/** Reads the cursor from the header `Link: <…?cursor=…>; rel="next"`. */
export function nextCursorOf(link: string | null): string | undefined {
  const target = /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? '')?.[1];
  if (target === undefined) return undefined;
  return new URL(target).searchParams.get('cursor') ?? undefined;
}
