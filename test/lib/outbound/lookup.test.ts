import dgram from 'node:dgram';
import { expect, onTestFinished, test } from 'vitest';
import { createPublicLookup, systemLookup } from '#lib/outbound/connector.ts';
import { guardedClient } from './receiver.ts';

const A = 1;
const AAAA = 28;

test('the public lookup gives the addresses of both families', async () => {
  const server = await startDnsServer((name, type) => {
    if (name !== 'tools.example.com') return undefined;
    return type === A
      ? [
          [93, 184, 216, 34],
          [1, 1, 1, 1],
        ]
      : [[...Array(15).fill(0), 1]];
  });
  const lookup = createPublicLookup([server]);
  expect(await lookup('tools.example.com')).toEqual(['93.184.216.34', '1.1.1.1', '::1']);
});

test('one family is enough, none is a failure that names the reason', async () => {
  const server = await startDnsServer((name, type) =>
    name.startsWith('v4') && type === A ? [[1, 1, 1, 1]] : undefined,
  );
  const lookup = createPublicLookup([server]);
  expect(await lookup('v4.example.com')).toEqual(['1.1.1.1']);
  await expect(lookup('none.example.com')).rejects.toMatchObject({ code: 'ENODATA' });
  const client = guardedClient({ lookup });
  await expect(client.request({ url: 'https://none.example.com/' })).rejects.toMatchObject({
    code: 'dns_failure',
    message: 'none.example.com: the host has no address (ENODATA)',
  });
});

test('a DNS server that responds with a private address gets no connection', async () => {
  const server = await startDnsServer((_, type) => (type === A ? [[10, 0, 0, 1]] : undefined));
  const client = guardedClient({ lookup: createPublicLookup([server]) });
  await expect(client.request({ url: 'https://tools.example.com/' })).rejects.toMatchObject({
    code: 'blocked_address',
  });
});

test('the local lookup knows localhost', async () => {
  expect(await systemLookup('localhost')).toContain('127.0.0.1');
});

type Answers = (name: string, type: number) => number[][] | undefined;

/** Starts a DNS server on UDP that answers each question with the given addresses; returns its `address:port`. */
async function startDnsServer(answers: Answers): Promise<string> {
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const addresses = (type === A || type === AAAA ? answers(name, type) : undefined) ?? [];
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const records = addresses.map((address) => {
      const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]);
      return Buffer.concat([record, Buffer.from(address)]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let offset = 12;
  for (let length = query[offset++] ?? 0; length > 0; length = query[offset++] ?? 0) {
    labels.push(query.toString('latin1', offset, offset + length));
    offset += length;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: query.readUInt16BE(offset),
    end: offset + 4,
  };
}
