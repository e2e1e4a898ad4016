import { z } from 'zod';

/** Response to a completion in place of the fixture's own. */
export const Behaviour = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('normal') }),
  z.strictObject({
    kind: z.literal('text'),
    text: z.string(),
    /** `stop` or `length`, which is written in the protocol's own word; every other word is sent unchanged. */
    finishReason: z.string().default('stop'),
  }),
  z.strictObject({
    kind: z.literal('tool-calls'),
    calls: z.array(z.strictObject({ name: z.string(), arguments: z.string() })).min(1),
  }),
  /** Responds with a status, this JSON body and these headers. */
  z.strictObject({
    kind: z.literal('error'),
    status: z.int().min(300).max(599),
    body: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
  /** Sends an error event in the middle of a stream, after status 200. */
  z.strictObject({ kind: z.literal('stream-error'), error: z.record(z.string(), z.unknown()) }),
  /** Cuts the connection in the middle. */
  z.strictObject({ kind: z.literal('broken-stream') }),
  /** Ends the stream properly, but before the response is complete. */
  z.strictObject({ kind: z.literal('unfinished') }),
  /** Never responds. */
  z.strictObject({ kind: z.literal('hang') }),
  /** Begins the response, and then only keeps the connection alive. */
  z.strictObject({ kind: z.literal('silent') }),
  /** Sends events that are not JSON. */
  z.strictObject({ kind: z.literal('malformed') }),
  /** Writes text until the client closes. */
  z.strictObject({ kind: z.literal('endless') }),
  /** States this usage, in the protocol's own fields. */
  z.strictObject({ kind: z.literal('lying-usage'), tokens: z.number() }),
  /** Sends the fixture's own response with this pause between events. */
  z.strictObject({ kind: z.literal('slow'), pauseMs: z.int().min(0) }),
]);

export type Behaviour = z.output<typeof Behaviour>;
export type BehaviourInput = z.input<typeof Behaviour>;
