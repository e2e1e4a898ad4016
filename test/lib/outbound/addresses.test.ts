import { expect, test } from 'vitest';
import { isPermittedAddress } from '#lib/outbound/addresses.ts';

const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '191.255.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001:80e::200e',
  '3ffe:ffff::1',
];

const PRIVATE: Record<string, string[]> = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  reserved: ['240.0.0.1', '255.255.255.254'],
  broadcast: ['255.255.255.255'],
  'link-local': ['169.254.0.1', 'fe80::1', 'febf::1'],
  'IETF protocol assignments': ['192.0.0.1', '192.0.0.170', '2001::', '2001:1::1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  '6to4 relay': ['192.88.99.1'],
  AS112: ['192.31.196.1', '192.175.48.1', '2001:4:112::1', '2620:4f:8000::1'],
  AMT: ['192.52.193.1', '2001:3::1'],
  ORCHID: ['2001:10::1', '2001:20::1'],
  unspecified: ['::'],
  'site-local': ['fec0::1'],
  discard: ['100::1'],
  'segment routing': ['5f00::1'],
  'not allotted by IANA': ['4000::1', '8000::1', 'e000::1', '1::1'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::8.8.8.8', '::a9fe:a9fe'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:a00:1'],
  'IPv4-translated': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  NAT64: ['64:ff9b::127.0.0.1', '64:ff9b::8.8.8.8', '64:ff9b:1::10.0.0.1', '64:ff9b:1:abcd::1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1'],
  Teredo: ['2001:0:4136:e378:8000:63bf:80ff:fffe', '2001::1'],
  ISATAP: [
    'fe80::5efe:127.0.0.1',
    '2606:4700::5efe:10.0.0.1',
    '2606:4700:0:0:200:5efe:a9fe:a9fe',
    '2a00:1450:4001:80e:0:5efe:808:808',
  ],
  'cloud metadata': [
    '169.254.169.254',
    '169.254.170.2',
    '168.63.129.16',
    '100.100.100.200',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    'fd00:c1::a9fe:a9fe',
    'fd00:42::42',
    'fd00:a9fe:a9fe::1',
  ],
  'with a zone': ['fe80::1%eth0', '::1%lo', '2606:4700:4700::1111%eth0', 'fc00::1%1'],
  'not an address': [
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '0177.0.0.1',
    '2130706433',
    '08.8.8.8',
    '8.8.8.8.',
    '8.8.8.8:80',
    '[::1]',
    '1.2.3',
    ' 8.8.8.8',
    '::ffff:1.2.3.4.5',
  ],
};

const LOCAL: Record<string, string[]> = {
  loopback: ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'unique local': ['fc00::1', 'fd12:3456:789a::1'],
};

test.each(PUBLIC)('%s is public and permitted', (address) => {
  expect(isPermittedAddress(address, false)).toBe(true);
  expect(isPermittedAddress(address, true)).toBe(true);
});

test.each(rows(PRIVATE))('%s: %s is never permitted', (_range, address) => {
  expect(isPermittedAddress(address, false)).toBe(false);
  expect(isPermittedAddress(address, true)).toBe(false);
});

test.each(rows(LOCAL))('%s: %s is permitted for local use only', (_range, address) => {
  expect(isPermittedAddress(address, false)).toBe(false);
  expect(isPermittedAddress(address, true)).toBe(true);
});

function rows(ranges: Record<string, string[]>): [string, string][] {
  return Object.entries(ranges).flatMap(([range, addresses]) =>
    addresses.map((address): [string, string] => [range, address]),
  );
}
