/**
 * Follows redirects with their cookies, like a browser at a sign-in without clicks, and returns the first address that
 * `isEnd` accepts.
 */
export async function visit(start: string, isEnd: (url: URL) => boolean): Promise<URL> {
  const jar = new Map<string, string>();
  let url = new URL(start);
  for (let hop = 0; hop < 10; hop++) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url.pathname} gave ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
    if (isEnd(url)) return url;
  }
  throw new Error('too many redirects');
}
