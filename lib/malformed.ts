import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, failureBody } from './errors.ts';

/**
 * Returns a listener for `clientError`, which refuses what Node's parser gave up on, in the envelope of all responses and
 * with these headers, and closes the connection.
 */
export function refuseMalformed(own: Readonly<Record<string, string>>) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = refusalOf(error.code);
    const requestId = randomUUID();
    const body = failureBody(refusal, requestId);
    const headers = {
      ...own,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'X-Request-Id': requestId,
      Connection: 'close',
    };
    socket.end(
      [
        `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        '',
        body,
      ].join('\r\n'),
    );
  };
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout');
    default:
      return new AppError('invalid_request', 'The request is not well-formed HTTP.');
  }
}
