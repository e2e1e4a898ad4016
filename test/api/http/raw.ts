import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test asserts the shape it reads
  readonly body: any;
}

/**
 * Sends bytes that no HTTP client would send, and returns the first response as soon as it is complete, even if
 * announced bytes were not sent. Skips interim (1xx) responses.
 */
export async function sendRaw(baseUrl: string, request: string | Buffer, timeoutMs = 10_000): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({
    host: hostname === 'localhost' ? '127.0.0.1' : hostname,
    port: Number(port),
  });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer in time')));
  try {
    socket.write(request);
    let received = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      const answer = complete(received, false);
      if (answer !== undefined) return answer;
    }
    const answer = complete(received, true);
    if (answer === undefined) throw new Error(`the connection ended: ${received.toString()}`);
    return answer;
  } finally {
    socket.destroy();
  }
}

/** Writes header lines and a body as one request, with a Host and the right content length. */
export function requestBytes(method: string, target: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...headers, ...length, '', body].join('\r\n');
}

function complete(received: Buffer, ended: boolean): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const rest = received.subarray(end + 4);
  if (status < 200) return complete(rest, ended);
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers['content-length'] ?? 0);
  if (rest.length < length && !ended) return undefined;
  const text = rest.subarray(0, length).toString();
  return { status, headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
}
