import type { IncomingMessage } from 'node:http';

/**
 * Returns the caller's address: the socket's, or, behind `hops` proxies that we trust, the entry that the outermost of
 * them appended to `X-Forwarded-For`. Entries further left were written by the caller and prove nothing.
 */
export function clientAddress(request: IncomingMessage, hops: number): string {
  const socket = request.socket.remoteAddress ?? '';
  if (hops === 0) return socket;
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  return forwarded.at(-hops) ?? socket;
}
