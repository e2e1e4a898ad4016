import { Agent as HttpAgent, request as requestHttp, type ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps, type RequestOptions } from 'node:https';

/** The API behind the dashboard. */
export interface Api {
  /** Begins a request to a path with its query; connections are kept alive. */
  request(target: string, options: Pick<RequestOptions, 'method' | 'headers'>): ClientRequest;
}

/** Time without a byte, not even a comment of an event stream, after which a response is given up. */
const SILENCE_MS = 75_000;

/** Connects to the API at its origin. */
export function connectApi(origin: string): Api {
  const isSecure = origin.startsWith('https:');
  const begin = isSecure ? requestHttps : requestHttp;
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  return {
    request: (target, options) =>
      begin(new URL(target, origin), { ...options, agent, timeout: SILENCE_MS }),
  };
}
