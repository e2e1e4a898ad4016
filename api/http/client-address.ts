import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Finds the address of a request's caller. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Builds the look-up of callers' addresses. The look-up starts from the socket's address. While the address belongs to
 * a trusted proxy, the next entry of `X-Forwarded-For`, from right to left, replaces it. The caller could have written
 * entries further left, so they prove nothing.
 * @param trustedProxies addresses and networks
 * @param onUnnamed called once, with the first untrusted peer that sends `X-Forwarded-For`
 */
export function clientAddressBehind(
  trustedProxies: readonly string[],
  onUnnamed: (peer: string) => void = () => undefined,
): ClientAddress {
  let isTold = false;
  const networks = trustedProxies.map((text) => (text.includes('/') ? ipaddr.parseCIDR(text) : single(text)));

  function isTrusted(address: string): boolean {
    if (isIP(address) === 0) return false;
    // Undo the IPv6 form in which a socket for both families shows an IPv4 address.
    const parsed = ipaddr.process(address);
    return networks.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  }

  return (request) => {
    let address = request.socket.remoteAddress ?? '';
    const named = request.headers['x-forwarded-for'];
    if (named === undefined) return address;
    if (!isTold && !isTrusted(address)) {
      isTold = true;
      onUnnamed(address);
    }
    const forwarded = String(named).split(',');
    while (isTrusted(address)) {
      const before = forwarded.pop()?.trim() ?? '';
      if (isIP(before) === 0) break;
      address = before;
    }
    return address;
  };
}

/**
 * Returns the network of a caller: an IPv4 address, or 64 bits of an IPv6 address, because one caller may use all of
 * these addresses. The wide network is the largest that a caller can rent: 24 or 48 bits.
 */
export function networkOf(address: string, size: 'own' | 'wide' = 'own'): string {
  if (isIP(address) === 0) return address;
  const parsed = ipaddr.process(address);
  const isIPv4 = parsed.kind() === 'ipv4';
  if (isIPv4 && size === 'own') return parsed.toString();
  const wide = isIPv4 ? 3 : 6;
  return Buffer.from(parsed.toByteArray().slice(0, size === 'own' ? 8 : wide)).toString('hex');
}

function single(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.process(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
