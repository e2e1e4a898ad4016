import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';
import { urlToHttpOptions } from 'node:url';

/** The API behind the dashboard. */
export interface Api {
  /** Begins a request for a path with its query, both sent unchanged. Connections are kept alive. */
  request(target: string, options: Pick<RequestOptions, 'method' | 'headers'>): ClientRequest;
}

/** Time without a byte, not even a comment of an event stream, after which a response is given up. */
const SILENCE_MS = 75_000;

export function connectApi(origin: string): Api {
  const isSecure = origin.startsWith('https:');
  const begin = isSecure ? requestHttps : requestHttp;
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const there = urlToHttpOptions(new URL(origin));
  return {
    // Do not resolve the target against the origin: it could lead to another host, or to a path that is not forwarded.
    request: (target, options) => begin({ ...there, ...options, path: target, agent, timeout: SILENCE_MS }),
  };
}
