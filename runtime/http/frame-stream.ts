import type { ServerResponse } from 'node:http';
import { createFrameSealer, type FrameContent, type OpenedRequest } from '#lib/envelope/index.ts';
import type { EnvelopeKeys } from '#lib/envelope/index.ts';

/** Interval of the frames that show that a call continues. */
const ALIVE_MS = 5_000;

/** The response to one request: sealed frames, each on a line, in their order. */
export interface FrameStream {
  /** Writes the last frame and ends. Resolves when everything is written, or the caller has left. */
  end(content: FrameContent): Promise<void>;
}

export function openFrameStream(
  response: ServerResponse,
  { claims, digest }: OpenedRequest,
  { keys, instanceId }: { readonly keys: EnvelopeKeys; readonly instanceId: string },
): FrameStream {
  const seal = createFrameSealer({
    keys,
    digest,
    issuer: instanceId,
    requestId: claims.requestId,
  });
  let last: Promise<void> = Promise.resolve();
  const writeAfter = async (before: Promise<void>, sealed: Promise<string>): Promise<void> => {
    const [line] = await Promise.all([sealed, before]);
    if (!response.destroyed) response.write(`${line}\n`);
  };
  // Frames are numbered on arrival and written in that order, however long each takes to seal.
  const write = (content: FrameContent): Promise<void> => (last = writeAfter(last, seal(content)));
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'cache-control': 'no-store',
  });
  void write({ type: 'accepted' });
  const timer = setInterval(() => void write({ type: 'alive' }), ALIVE_MS);
  response.once('close', () => clearInterval(timer));
  return {
    async end(content) {
      clearInterval(timer);
      await write(content);
      response.end();
    },
  };
}
