import { z } from 'zod';
import { parseExact } from '../exact-json/parse.ts';
import { EnvelopeError } from './request.ts';
import { failureCode, failureDetails } from './bodies.ts';
import type { EnvelopeKeys } from './keys.ts';
import { open, seal } from './sealed.ts';
import { MAX_ENVELOPE_BYTES, MAX_PLAINTEXT_BYTES } from './claims.ts';

const content = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('accepted') }),
  z.strictObject({ type: z.literal('alive') }),
  z.strictObject({ type: z.literal('result'), value: z.unknown() }),
  z.strictObject({ type: z.literal('failure'), code: failureCode, details: failureDetails }),
]);

const frameSchema = z.strictObject({
  version: z.literal(1),
  issuer: z.string(),
  requestId: z.string(),
  /** Sequence number: from 0, without a gap. */
  number: z.int().min(0),
  content,
});

export type FrameContent = z.output<typeof content>;
export type Frame = z.output<typeof frameSchema>;

interface FrameOptions {
  readonly keys: EnvelopeKeys;
  /** SHA-256 of the request's envelope. */
  readonly digest: Uint8Array;
  /** Instance id of the runtime. */
  readonly issuer: string;
  readonly requestId: string;
}

/**
 * Seals the frames of one response and numbers them in the given order. Each frame is one line without its line end.
 */
export function createFrameSealer(options: FrameOptions): (content: FrameContent) => Promise<string> {
  const keys = options.keys.responseTo(options.digest);
  const { issuer, requestId } = options;
  let next = 0;
  return async (content) => {
    const number = next++;
    const frame: Frame = { version: 1, issuer, requestId, number, content };
    const payload = Buffer.from(JSON.stringify(frame));
    if (payload.length > MAX_PLAINTEXT_BYTES) throw new RangeError('the frame is too large');
    return seal(payload, keys, { typ: 'ras-frame', num: number });
  };
}

/**
 * Opens the frames of one response in their order.
 * @param issuer null accepts any instance, for the response to a `hello`
 * @throws {EnvelopeError} for a gap, a repeat, a frame after the last frame, or a frame that does not open
 */
export function createFrameOpener({
  issuer,
  ...options
}: Omit<FrameOptions, 'issuer'> & { readonly issuer: string | null }): (line: string) => Promise<Frame> {
  const keys = options.keys.responseTo(options.digest);
  let next = 0;
  let ended = false;
  return async (line) => {
    try {
      const number = next++;
      if (ended || line.length > MAX_ENVELOPE_BYTES) throw new EnvelopeError();
      const { payload, header } = await open(line, keys);
      const frame = frameSchema.parse(parseExact(new TextDecoder('utf8', { fatal: true }).decode(payload)));
      const isNext =
        frame.number === number &&
        header['num'] === number &&
        header['typ'] === 'ras-frame' &&
        frame.requestId === options.requestId &&
        (issuer === null || frame.issuer === issuer) &&
        (number === 0) === (frame.content.type === 'accepted');
      if (!isNext) throw new EnvelopeError();
      ended = frame.content.type === 'result' || frame.content.type === 'failure';
      return frame;
    } catch {
      throw new EnvelopeError();
    }
  };
}
