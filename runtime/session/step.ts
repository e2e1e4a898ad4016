import { jsonSchema, Output, streamText, tool, type ModelMessage, type ToolSet } from 'ai';
import { withExactArguments } from '#lib/exact-json/call-arguments.ts';
import { classifyStreamError, type Classified } from './classify.ts';
import { openModel, type SessionJob } from './model.ts';

/** Output of a session, one line on its standard output. The runtime does not trust it. */
export type SessionAnswer = { readonly result: unknown } | { readonly failure: Classified };

/** Performs one model step: reads a stream of the provider and returns one result, the same for all protocols. */
export async function runStep(job: SessionJob, fetch: typeof globalThis.fetch): Promise<SessionAnswer> {
  const idle = startIdleClock(job.idleMs);
  const namespace = job.options.toolNamespace ?? '';
  try {
    const { model, ...options } = openModel(job, fetch);
    const exact = withExactArguments(model);
    const stream = streamText({
      model: exact.model,
      ...options,
      messages: renamed(job.messages, (name) => namespace + name),
      tools: toolSet(job.tools, namespace),
      ...(job.maxOutputTokens === null ? {} : { maxOutputTokens: job.maxOutputTokens }),
      ...structuredOutput(job.resultSchema),
      maxRetries: 0,
      abortSignal: idle.signal,
      onError: () => undefined,
    });
    for await (const part of stream.stream) {
      if (part.type === 'error') {
        if (idle.signal.aborted) break;
        return { failure: failureOf(part.error, job) };
      }
      if (CONTENT.has(part.type)) idle.restart();
    }
    if (idle.signal.aborted) return { failure: { code: 'timeout', details: {} } };
    const [joined, own] = await Promise.all([stream.finishReason, stream.rawFinishReason]);
    // Count a stream without an explicit end as broken off.
    if (joined === 'error' || joined === 'interrupted' || (joined === 'other' && own === undefined)) {
      return { failure: BROKEN_OFF };
    }
    // Give the run the original word: the library turns unknown finish reasons into `other` and reads a pause as an
    // end.
    const finishReason = joined === 'other' || own === 'pause_turn' ? (own ?? joined).slice(0, MAX_WORD) : joined;
    const [text, response, calls, usage] = await Promise.all([
      stream.text,
      stream.response,
      stream.toolCalls,
      stream.usage,
    ]);
    const original = (name: string) => (name.startsWith(namespace) ? name.slice(namespace.length) : name);
    return {
      result: {
        text,
        messages: renamed(exact.inMessages(response.messages), original),
        toolCalls: calls.map((call) => ({
          callId: call.toolCallId,
          name: original(call.toolName),
          ...exact.read(call),
        })),
        finishReason,
        usage: {
          inputTokens: count(usage.inputTokens),
          cachedInputTokens: count(usage.inputTokenDetails.cacheReadTokens),
          outputTokens: count(usage.outputTokens),
          reasoningTokens: count(usage.outputTokenDetails.reasoningTokens),
        },
      },
    };
  } catch (error) {
    if (idle.signal.aborted) return { failure: { code: 'timeout', details: {} } };
    return { failure: failureOf(error, job) };
  } finally {
    idle.stop();
  }
}

/** Length at which a finish reason is cut. */
const MAX_WORD = 100;

const BROKEN_OFF: Classified = { code: 'model_error', details: { status: 200, retryable: true } };

const CONTENT: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
  'tool-call',
]);

function startIdleClock(idleMs: number) {
  const controller = new AbortController();
  const begin = () => setTimeout(() => controller.abort(), idleMs);
  let timer = begin();
  const stop = () => clearTimeout(timer);
  return {
    signal: controller.signal,
    stop,
    restart() {
      stop();
      timer = begin();
    },
  };
}

function toolSet(tools: SessionJob['tools'], namespace: string): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      namespace + name,
      tool({ description, inputSchema: jsonSchema(inputSchema) }),
    ]),
  );
}

/** Requests a text in the form of a JSON Schema. The library accepts any text, because the run checks it. */
function structuredOutput(schema: SessionJob['resultSchema']) {
  if (schema === undefined) return {};
  const responseFormat = Promise.resolve(jsonSchema({ ...schema }).jsonSchema).then((json) => ({
    type: 'json' as const,
    schema: json,
    name: 'result',
  }));
  return { output: { ...Output.text(), responseFormat } };
}

function failureOf(error: unknown, job: SessionJob): Classified {
  const name = error instanceof Error ? error.name : '';
  if (/JSONParse|TypeValidation|InvalidResponse|NoContent|EmptyResponse|NoOutput/.test(name)) {
    return { code: 'malformed', details: {} };
  }
  // The provider's error event arrives unchanged: as the error itself, or as `data` of an error of the library.
  if (!(error instanceof Error)) return classifyStreamError(error, job.limits);
  const sent: unknown = 'data' in error ? error.data : undefined;
  return sent === undefined ? BROKEN_OFF : classifyStreamError(sent, job.limits);
}

function renamed(messages: readonly unknown[], rename: (name: string) => string): ModelMessage[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library checks messages itself
  return messages.map((message) => renameIn(message, rename)) as ModelMessage[];
}

function renameIn(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== 'object' || value === null || !('content' in value)) return value;
  const { content } = value;
  if (!Array.isArray(content)) return value;
  const parts = content.map((part: unknown) =>
    typeof part === 'object' && part !== null && 'toolName' in part && typeof part.toolName === 'string'
      ? { ...part, toolName: rename(part.toolName) }
      : part,
  );
  return { ...value, content: parts };
}

function count(claimed: unknown): number {
  return typeof claimed === 'number' && Number.isFinite(claimed) && claimed > 0
    ? Math.min(Math.round(claimed), 1_000_000_000)
    : 0;
}
