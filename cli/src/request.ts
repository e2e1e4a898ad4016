import { CliError, reason } from './failure.ts';
import type { World } from './world.ts';

const TIMEOUT_MS = 30_000;

/**
 * Makes a request outside the SDK, without credentials: a POST if there is a body.
 * @throws {CliError}
 */
export async function request({ fetch }: Pick<World, 'fetch'>, url: string, body?: unknown): Promise<Response> {
  const init =
    body === undefined
      ? { headers: { Accept: 'application/json' } }
      : {
          method: 'POST',
          headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        };
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  return fetch(url, { ...init, redirect: 'manual', signal }).catch((cause: unknown) => {
    throw new CliError(`No connection to ${new URL(url).origin}: ${reason(cause)}`, {
      hint: 'ras doctor looks for the cause.',
      cause,
    });
  });
}

/** Parses the body of a response as JSON; undefined for other texts. */
export async function jsonOf(response: Response): Promise<unknown> {
  return response.json().catch(() => undefined);
}
