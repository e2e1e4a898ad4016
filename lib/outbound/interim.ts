import type { Socket } from 'node:net';

/** Matches a whole `100 Continue` at the start of a response. `BEGUN` is the text with which it begins. */
const INTERIM = /^HTTP\/1\.[01] 100(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const BEGUN = 'HTTP/1.1 100';
/** The most bytes of an interim response's headers. If a server sends more, the request fails. */
const LONGEST = 4_096;

/**
 * Drops each `100 Continue` that comes before the response to a request: a server may send one without being asked (RFC
 * 9110, section 15.2), and undici would close the connection. Bytes of a response pass unchanged.
 */
export function withoutInterim<S extends Socket>(socket: S): S {
  const write = socket.write.bind(socket);
  const read = socket.read.bind(socket);
  let awaiting = false;
  let held: Buffer = Buffer.alloc(0);
  return Object.assign(socket, {
    write(...chunk: Parameters<typeof write>) {
      awaiting = true;
      return write(...chunk);
    },
    read(size?: number): unknown {
      const chunk: unknown = read(size);
      if (!awaiting || !(chunk instanceof Buffer)) return chunk;
      let bytes = Buffer.concat([held, chunk]);
      held = Buffer.alloc(0);
      for (;;) {
        const text = bytes.toString('latin1', 0, LONGEST);
        const interim = INTERIM.exec(text)?.[0];
        if (interim === undefined) {
          const begun = text.slice(0, BEGUN.length).replace('HTTP/1.0', 'HTTP/1.1');
          if (BEGUN.startsWith(begun) && bytes.length < LONGEST) {
            held = bytes;
            return null;
          }
          awaiting = false;
          return bytes;
        }
        bytes = bytes.subarray(interim.length);
      }
    },
  });
}
