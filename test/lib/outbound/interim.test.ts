import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { localClient, startRawServer } from './receiver.ts';

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone';

test.each<[string, readonly string[]]>([
  ['before the response, in one packet', [CONTINUE + OK]],
  ['before the response, in packets of their own', [CONTINUE, OK]],
  ['cut in its first line', ['HTTP/1.1 1', '00 Continue\r\n\r\n', OK]],
  ['cut in its last line break', ['HTTP/1.1 100 Continue\r\n\r', `\n${OK}`]],
  ['without words', [`HTTP/1.1 100\r\n\r\n${OK}`]],
  ['with headers of its own', [`HTTP/1.1 100 Continue\r\ndate: today\r\nserver: x\r\n\r\n${OK}`]],
  ['of HTTP/1.0', [`HTTP/1.0 100 Continue\r\n\r\n${OK}`]],
  ['three times', [CONTINUE, CONTINUE + CONTINUE, OK]],
  ['followed by early hints', [`${CONTINUE}HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`]],
  ['never, where the response comes a byte at a time', OK.split('')],
])('a 100 that no one asked for is passed over: %s', async (_, packets) => {
  const { url, client } = await serverOf(packets);
  // The second request uses the same connection.
  for (let time = 0; time < 2; time += 1) {
    const response = await client.request({ url, method: 'POST', body: '{}' });
    expect([response.status, response.body.toString()]).toEqual([200, 'done']);
  }
});

test('text of a body that looks like one is kept', async () => {
  const length = CONTINUE.length * 2;
  const { url, client } = await serverOf([`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`, CONTINUE, CONTINUE]);
  expect((await client.request({ url, method: 'POST', body: '{}' })).body.toString()).toBe(CONTINUE + CONTINUE);
});

test('a server that says nothing else has not responded', async () => {
  const { url, client } = await serverOf([CONTINUE], { ends: true });
  await expect(client.request({ url, method: 'POST', body: '{}' })).rejects.toMatchObject({ mayHaveArrived: true });
});

test.each<[string, readonly string[]]>([
  ['does not end', ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nstart\r\n']],
  ['is shorter than was said', ['HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nstart']],
])('where the status decides, a body that %s is cut, and its beginning kept', async (_, packets) => {
  const { url, client } = await serverOf(packets);
  const response = await client.request({ url, method: 'POST', body: '{}', cutBodyAfterMs: 200 });
  expect([response.status, response.body.toString(), response.truncated]).toEqual([200, 'start', true]);
});

test('where the status decides, a body that breaks off is kept as far as it came', async () => {
  const { url, client } = await serverOf(['HTTP/1.1 200 OK\r\ncontent-length: 400\r\n\r\nstart'], { ends: true });
  const response = await client.request({ url, method: 'POST', body: '{}', cutBodyAfterMs: 60_000 });
  expect([response.status, response.body.toString(), response.truncated]).toEqual([200, 'start', true]);
});

/** Starts a server that answers each request with these separate packets, and may then close the connection. */
async function serverOf(packets: readonly string[], { ends = false } = {}) {
  const port = await startRawServer((socket) => {
    socket.setNoDelay();
    const send = async () => {
      for (const packet of packets) {
        socket.write(packet);
        await sleep(packets.length > 10 ? 1 : 10);
      }
      if (ends) socket.end();
    };
    socket.on('data', (data) => {
      if (data.toString().startsWith('POST')) void send();
    });
  });
  return { url: `http://127.0.0.1:${port}/`, client: localClient() };
}
