import { expect, test } from 'vitest';
import { OutboundError } from '#lib/outbound/index.ts';
import { guardedClient, localClient } from './receiver.ts';

const LOOPBACK_SPELLINGS = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0X7F.0.0.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://0x7f.1/',
  'https://127.0.0.1.:8443/',
  'https://%31%32%37.0.0.1/',
  'https://①②⑦.⓪.⓪.①/',
  'https://127。0。0。1/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[fe80::5efe:7f00:1]/',
];

test.each([
  ...LOOPBACK_SPELLINGS,
  'https://0/',
  'https://0.0.0.0/',
  'https://10.1.2.3/hook',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://168.63.129.16/',
  'https://100.64.1.1/',
  'https://255.255.255.255/',
  'https://[fd00:ec2::254]/',
  'https://[fc00::1]/',
])('%s is refused as an address on saving and on sending', async (url) => {
  const client = guardedClient({ lookup: unexpected });
  expect(client.urlFault(url)?.code).toBe('blocked_address');
  await expect(client.request({ url })).rejects.toMatchObject({ code: 'blocked_address' });
  await expect(client.fetch(url)).rejects.toMatchObject({ code: 'blocked_address' });
});

test.each([
  'http://hooks.example.com/',
  'ftp://hooks.example.com/',
  'file:///etc/passwd',
  'data:text/plain,x',
  'javascript:alert(1)',
  'gopher://hooks.example.com/',
  'ws://hooks.example.com/',
  '//hooks.example.com/',
  'hooks.example.com',
  '',
  'https://',
  'https:///',
  'https://user@hooks.example.com/',
  'https://user:word@hooks.example.com/',
  'https://:word@hooks.example.com/',
  'https://hooks.example.com:0/',
  'https://hooks.example.com:22/',
  'https://hooks.example.com:25/',
  'https://hooks.example.com:6667/',
  'https://hooks.example.com:65536/',
  'https://localhost/',
  'https://LOCALHOST:8443/',
  'https://localhost./',
  'https://app.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://db.lan/',
  'https://router.home.arpa/',
  'https://kubernetes/',
  'https://intranet:8443/',
  'https://hooks.example.com./',
  'https://hooks.example.com../',
  'https://[fe80::1%25eth0]/',
  'https://[::1',
  'https://256.256.256.256/',
  'https://1.2.3.4.5/',
  ' https://hooks.example.com/',
  'https://hooks.example.com/a b',
  'https://hooks.exa\tmple.com/',
  'https://hooks.example.com/\n',
  'https:\\\\hooks.example.com\\',
  'https://hooks.example.com\\@127.0.0.1/',
  'https://hooks.example.com/\u0000',
  `https://hooks.example.com/${'a'.repeat(2048)}`,
])('%j is refused as a URL on saving and on sending', async (url) => {
  const client = guardedClient({ lookup: unexpected });
  expect(client.urlFault(url)?.code).toBe('blocked_url');
  await expect(client.request({ url })).rejects.toMatchObject({ code: 'blocked_url' });
  await expect(client.fetch(url)).rejects.toMatchObject({ code: 'blocked_url' });
});

test.each([
  'https://hooks.example.com/',
  'https://hooks.example.com:8443/path?query=1#part',
  'https://xn--bcher-kva.example.org/',
  'https://bücher.example.org/',
  'https://8.8.8.8/',
  'https://[2606:4700:4700::1111]/',
  new URL('https://hooks.example.com/'),
])('%s may be saved', (url) => {
  expect(guardedClient().urlFault(url)).toBeUndefined();
});

test.each(['http://localhost:3000/', 'http://127.0.0.1:3000/mcp', 'http://tool-server:8080/', 'https://[::1]/'])(
  '%s may be saved for local use',
  (url) => {
    expect(localClient().urlFault(url)).toBeUndefined();
  },
);

test.each([
  ['http://169.254.169.254/latest/meta-data/', 'blocked_address'],
  ['http://[fd00:ec2::254]/', 'blocked_address'],
  ['http://[::ffff:169.254.169.254]/', 'blocked_address'],
  ['ftp://localhost/', 'blocked_url'],
  ['http://user:word@localhost/', 'blocked_url'],
  ['http://localhost:22/', 'blocked_url'],
])('%s is refused even for local use', (url, code) => {
  expect(localClient().urlFault(url)?.code).toBe(code);
});

test('a refusal names the host, never the query, the path or the credentials', () => {
  const client = guardedClient();
  for (const url of [
    'https://canary-user:canary-word@127.0.0.1/canary-path?canary=query',
    'http://hooks.example.com/canary-path?canary=query',
    'https://10.0.0.1/canary-path?canary=query#canary',
    'https://[canary?canary=query',
  ]) {
    const error = client.urlFault(url);
    expect(error).toBeInstanceOf(OutboundError);
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('canary');
    expect(error?.mayHaveArrived).toBe(false);
  }
  expect(client.urlFault('https://10.0.0.1:8443/x')?.host).toBe('10.0.0.1:8443');
});

function unexpected(): Promise<string[]> {
  throw new Error('a refused URL must not be looked up');
}
