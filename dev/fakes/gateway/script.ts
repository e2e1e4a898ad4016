import { z } from 'zod';

const Call = z.strictObject({
  name: z.string(),
  /** Arguments; a text is sent unchanged, so it may be invalid JSON. */
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).default({}),
  id: z.string().optional(),
});

/** The way in which a server writes its answers. */
export const Form = z.strictObject({
  /** Field of the reasoning. `think` writes it into the text, `think-end` without the opening tag. */
  reasoning: z
    .enum(['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content', 'think', 'think-end', 'none'])
    .exactOptional(),
  /** Content as a text, or as a list of parts. */
  content: z.enum(['text', 'parts']).exactOptional(),
  /** Calls in their field, or written into the text. */
  calls: z.enum(['field', 'text']).exactOptional(),
  ids: z.enum(['own', 'same', 'empty', 'missing']).exactOptional(),
  /** Replaces the finish reason of the answer; null is sent as null. */
  finishReason: z.string().nullable().exactOptional(),
  usage: z.enum(['once', 'twice', 'none', 'decimal text']).exactOptional(),
  /** True for comments between the events of a stream. */
  comments: z.boolean().exactOptional(),
  /** True for line ends as on Windows. */
  crlf: z.boolean().exactOptional(),
  /** Pause between two events of a stream. */
  pauseMs: z.int().min(0).exactOptional(),
  /** Tokens after which the answer is cut with the reason `length`, even within a call. */
  maxTokens: z.int().min(0).exactOptional(),
  /** Error that is sent in the middle of a stream, after status 200. */
  error: z.record(z.string(), z.unknown()).exactOptional(),
  /** Place at which the answer stops: in a call, in a character of several bytes, before the usage or the last line. */
  stop: z.enum(['call', 'character', 'usage', 'done']).exactOptional(),
  /** True to cut the connection at `stop`; otherwise the response ends at `stop` as if it were whole. */
  abrupt: z.boolean().exactOptional(),
});
export type Form = z.infer<typeof Form>;

/** Behaviour that replaces the fixture's own response. */
export const Behaviour = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('normal') }),
  z.strictObject({
    kind: z.literal('text'),
    text: z.string(),
    reasoning: z.string().exactOptional(),
    finishReason: z.string().default('stop'),
  }),
  z.strictObject({
    kind: z.literal('tool-calls'),
    calls: z.array(Call).min(1),
    text: z.string().nullable().default(null),
    finishReason: z.string().default('tool_calls'),
    reasoning: z.string().exactOptional(),
  }),
  /** Repeats the last tool result word for word. */
  z.strictObject({ kind: z.literal('repeat') }),
  /** Obeys every text that it reads: see obey.ts. */
  z.strictObject({ kind: z.literal('obey') }),
  /** Sends the fixture's own response with this usage; null leaves the usage out. */
  z.strictObject({ kind: z.literal('usage'), usage: z.unknown() }),
  z.strictObject({
    kind: z.literal('error'),
    status: z.int().min(300).max(599),
    message: z.string().default('Scripted failure.'),
    code: z.string().exactOptional(),
    /** Value of the header: seconds or an HTTP date. */
    retryAfter: z.string().exactOptional(),
    /** Sent instead of the JSON error, as text/html: a proxy's error page. */
    body: z.string().exactOptional(),
    /** Sent instead of the manner's error. */
    json: z.unknown().optional(),
  }),
  /** Refuses as llama.cpp does while it loads its model. */
  z.strictObject({ kind: z.literal('loading') }),
  /** Waits for a second request with the same script, and sends to each request the answer to the other. */
  z.strictObject({ kind: z.literal('swap') }),
  /** Never responds; with `afterChunks` it first sends that many chunks of a stream. */
  z.strictObject({
    kind: z.literal('hang'),
    afterChunks: z.int().min(0).exactOptional(),
    /** Sends comments of an event stream until the client leaves. */
    comments: z.boolean().exactOptional(),
  }),
  /** Cuts the connection before the first byte. */
  z.strictObject({ kind: z.literal('reset') }),
  /** Cuts the connection in the middle of the response. */
  z.strictObject({ kind: z.literal('broken-stream'), afterChunks: z.int().min(0).default(2) }),
  z.strictObject({ kind: z.literal('malformed-json') }),
  /** Sends these bytes with status 200: see dev/fakes/odd-gateway. */
  z.strictObject({
    kind: z.literal('raw'),
    parts: z.array(z.string()),
    contentType: z.string().default('text/event-stream'),
    headers: z.record(z.string(), z.string()).default({}),
    /** Length of the written pieces, which may end within a character. By default each part is one piece. */
    pieceBytes: z.int().positive().exactOptional(),
    /** Fate of the connection after the answer. */
    ending: z.enum(['end', 'cut', 'stay']).default('end'),
  }),
  /** Writes until the client closes. */
  z.strictObject({ kind: z.literal('endless'), chunkDelayMs: z.int().min(0).default(0) }),
  /** Entries of the model list, word for word; only for target "models". */
  z.strictObject({ kind: z.literal('list'), models: z.array(z.unknown()) }),
  /** Models, written as the manner writes its list; only for target "models". */
  z.strictObject({
    kind: z.literal('catalogue'),
    models: z.array(z.strictObject({ id: z.string(), context_length: z.int() })),
  }),
]);
export type Behaviour = z.infer<typeof Behaviour>;

export const Script = z.strictObject({
  target: z.enum(['chat', 'models']).default('chat'),
  /** Applies only to requests for this model. */
  model: z.string().exactOptional(),
  /** Applies only to requests whose messages contain this text. */
  marker: z.string().exactOptional(),
  /** Number of requests that the script applies to; null for all. */
  times: z.int().positive().nullable().default(1),
  latencyMs: z.int().min(0).default(0),
  behaviour: Behaviour.default({ kind: 'normal' }),
  /** Overrides the manner's way of writing answers. */
  form: Form.default({}),
});
export type Script = z.infer<typeof Script>;
/** A script as a test writes it. */
export type ScriptInput = z.input<typeof Script>;

/** A script as one request gets it. */
export interface TakenScript extends Script {
  /** Resolves when the test releases the response; undefined for a response that no test delays. */
  readonly released: Promise<void> | undefined;
}

export interface ScriptQueue {
  add(script: ScriptInput, released?: Promise<void>): void;
  /** Takes the oldest unused script that fits the request. */
  take(request: { target: Script['target']; model?: string; prompt?: () => string }): TakenScript | undefined;
  clear(): void;
}

export function scriptQueue(): ScriptQueue {
  let queue: { script: TakenScript; left: number }[] = [];
  return {
    add: (input, released) => {
      const script = { ...Script.parse(input), released };
      queue.push({ script, left: script.times ?? Infinity });
    },
    take: ({ target, model, prompt }) => {
      if (queue.length === 0) return undefined;
      const entry = queue.find(
        ({ script }) =>
          script.target === target &&
          (script.model === undefined || script.model === model) &&
          (script.marker === undefined || prompt?.().includes(script.marker)),
      );
      if (entry === undefined) return undefined;
      entry.left -= 1;
      if (entry.left <= 0) queue = queue.filter((other) => other !== entry);
      return entry.script;
    },
    clear: () => {
      queue = [];
    },
  };
}
