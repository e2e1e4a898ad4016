import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientAddressBehind, networkOf } from '#api/http/client-address.ts';

/** Makes a request from this peer with this `X-Forwarded-For`. */
function request(remoteAddress: string, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage;
}

const proxies = ['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'];

test.each([
  ['a peer that is no proxy is not trusted', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a proxy names the caller', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['a chain of proxies is followed', '10.1.2.3', '198.51.100.1, 192.0.2.7', '198.51.100.1'],
  ['what the caller wrote stays', '10.1.2.3', '1.1.1.1, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  ['the caller claims to be a proxy', '10.1.2.3', '10.9.9.9, 198.51.100.1', '198.51.100.1'],
  ['an IPv4 peer shown as IPv6', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['an IPv6 proxy', '2001:db8::1', '2001:db9::5', '2001:db9::5'],
  ['no header', '10.1.2.3', undefined, '10.1.2.3'],
  ['an empty header', '10.1.2.3', '', '10.1.2.3'],
  ['rubbish in the header', '10.1.2.3', '198.51.100.1, unknown', '10.1.2.3'],
  ['proxies alone', '10.1.2.3', '10.9.9.9', '10.9.9.9'],
])('%s: %s with %j is %s', (_name, peer, forwarded, address) => {
  expect(clientAddressBehind(proxies)(request(peer, forwarded))).toBe(address);
});

test('without proxies the header means nothing', () => {
  expect(clientAddressBehind([])(request('10.1.2.3', '198.51.100.1'))).toBe('10.1.2.3');
});

test('an IPv4 address is one caller, and 64 bits of an IPv6 address are', () => {
  expect(networkOf('::ffff:198.51.100.1')).toBe('198.51.100.1');
  expect(networkOf('198.51.100.1')).not.toBe(networkOf('198.51.100.2'));
  expect(networkOf('2001:db8:1:2::1')).toBe(networkOf('2001:0db8:1:2:ffff:ffff:ffff:ffff'));
  expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
});

test('a wide network is 24 bits of an IPv4 address, and 48 of an IPv6 address', () => {
  expect(networkOf('198.51.100.1', 'wide')).toBe(networkOf('::ffff:198.51.100.255', 'wide'));
  expect(networkOf('198.51.100.1', 'wide')).not.toBe(networkOf('198.51.101.1', 'wide'));
  expect(networkOf('2001:db8:1:2::1', 'wide')).toBe(networkOf('2001:db8:1:ffff::1', 'wide'));
  expect(networkOf('2001:db8:1:2::1', 'wide')).not.toBe(networkOf('2001:db8:2:2::1', 'wide'));
});

test('a peer that names callers and is not among the proxies is logged once', () => {
  const told: string[] = [];
  const find = clientAddressBehind(proxies, (peer) => told.push(peer));
  find(request('203.0.113.9'));
  find(request('10.1.2.3', '198.51.100.1'));
  expect(told).toEqual([]);
  find(request('203.0.113.9', '198.51.100.1'));
  find(request('203.0.113.10', '198.51.100.1'));
  expect(told).toEqual(['203.0.113.9']);
});
