import { z } from 'zod';
import type { ModelDialect, ModelSource } from '#lib/config/index.ts';
import { errorCode } from '../error-code.ts';

/** A source to ask for its models, with the words that name its settings in a remedy. */
export interface Asked extends Pick<ModelSource, 'baseUrl' | 'apiKey' | 'dialect'> {
  /** Name of the variable with the source's key. */
  readonly keyPlace: string;
  /** The remedy for a wrong address: "correct GATEWAY_BASE_URL". */
  readonly correction: string;
}

/** A server's list of models. */
export interface Listed {
  /** Ids of the models that write text, in the order of the list. */
  readonly models: readonly string[];
  /** The maker of the server, if the list reveals it. */
  readonly dialect: ModelDialect | undefined;
  /** True if the response names itself a list, like the response of every local server. */
  readonly isMarked: boolean;
}

/** A failed attempt to list models, as two parts of a sentence: the response, and the remedy. */
export interface Refused {
  readonly came: string;
  readonly remedy: string;
  /** The model server has no models yet. */
  readonly isEmpty?: true;
}

/** Asks a server for its models. Never throws, because the service starts without them too. */
export async function askForModels(asked: Asked, timeoutMs: number): Promise<Listed | Refused> {
  const response = await request(asked, timeoutMs);
  if ('remedy' in response) return response;
  const { status, text } = response;
  const listed = status === 200 ? readList(text) : undefined;
  if (listed !== undefined) {
    if (listed.models.length > 0) return listed;
    const remedy = asked.dialect === 'ollama' ? 'fetch one with `ollama pull`' : 'load one there';
    return {
      came: 'it has no models that write text',
      remedy,
      ...(listed.isMarked && { isEmpty: true as const }),
    };
  }
  const what = text.trimStart().startsWith('<') ? 'a web page' : 'no list of models';
  const came = status === 200 ? `it gave ${what}` : `it ${answered(asked, response)}`;
  if (status === 401 || status === 403) {
    return { came, remedy: `put a valid key into ${asked.keyPlace}` };
  }
  if (status === 429 || status >= 500) return { came, remedy: 'look after it, or wait' };
  const withV1 = `${asked.baseUrl}/v1`;
  const there = await request({ ...asked, baseUrl: withV1 }, timeoutMs);
  const isThere = 'status' in there && (there.status === 401 || readList(there.text) !== undefined);
  const where = isThere ? `its models are at ${withV1}` : 'such addresses usually end in /v1';
  return { came, remedy: `${asked.correction}: ${where}` };
}

interface Response {
  readonly status: number;
  readonly text: string;
}

async function request(asked: Asked, timeoutMs: number): Promise<Response | Refused> {
  const { baseUrl, apiKey, keyPlace, dialect, correction } = asked;
  // Ask Anthropic by its own protocol: its list is not part of its endpoint for OpenAI's clients, and is in pages.
  const isAnthropic = dialect === 'anthropic';
  const key = isAnthropic
    ? { 'x-api-key': apiKey ?? '', 'anthropic-version': '2023-06-01' }
    : { Authorization: `Bearer ${apiKey}` };
  try {
    const response = await fetch(`${baseUrl}/models${isAnthropic ? '?limit=1000' : ''}`, {
      headers: apiKey === undefined ? {} : key,
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const code = errorCode(cause);
    if (code === 'ECONNREFUSED') {
      return { came: 'nothing listens there', remedy: `start it, or ${correction}` };
    }
    if (error instanceof Error && error.name === 'TimeoutError') {
      const came = `it did not answer within ${timeoutMs / 1_000} s`;
      return { came, remedy: 'look after it, or at the network' };
    }
    if (cause instanceof Error && cause.message === 'unexpected redirect') {
      return { came: 'it redirects to another address', remedy: correction };
    }
    if (code !== undefined) {
      return { came: `it cannot be reached: ${code}`, remedy: `${correction}, or wait` };
    }
    // Do not quote this error: its message may contain the key, or the password of an address.
    const remedy = `${correction}, or the key in ${keyPlace}`;
    return { came: 'no request can be made of it', remedy };
  }
}

const errorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string() }).transform((e) => e.message)]),
});

const MAX_WORDS = 200;

/**
 * Describes a response by its status and the server's own words. The words of a 401 are left out, because they often
 * quote the key.
 */
function answered({ apiKey }: Asked, { status, text }: Response): string {
  const words = status === 401 ? undefined : errorBody.safeParse(readJson(text)).data?.error;
  if (words === undefined) return `answered ${status}`;
  const safe = (apiKey ? words.replaceAll(apiKey, '…') : words).replaceAll(/[\p{Cc}\s]+/gu, ' ');
  return `answered ${status}, "${safe.slice(0, MAX_WORDS)}"`;
}

const modelList = z.object({
  object: z.unknown().optional(),
  // Accept null, which Ollama sends without models.
  data: z
    .array(
      z.looseObject({
        id: z.string().min(1),
        type: z.string().optional().catch(undefined),
        owned_by: z.string().optional().catch(undefined),
      }),
    )
    .nullable(),
});

const MAX_LIST_CHARS = 16 * 1024 * 1024;

function readList(text: string): Listed | undefined {
  const parsed = text.length > MAX_LIST_CHARS ? undefined : modelList.safeParse(readJson(text)).data;
  if (parsed === undefined) return undefined;
  const entries = parsed.data ?? [];
  const [first] = entries;
  return {
    models: entries
      .filter(({ id, type }) => !OTHER_KIND.test(type ?? '') && !OTHER_KIND.test(id))
      // Remove the prefix of Gemini's list, because Gemini accepts the ids without it.
      .map(({ id }) => id.replace(/^models\//, '')),
    dialect: first && (OWNERS[first.owned_by ?? ''] ?? ('max_model_len' in first ? 'vllm' : undefined)),
    isMarked: parsed.object === 'list',
  };
}

/** Values of `owned_by`, and the servers that write them. */
const OWNERS: Readonly<Record<string, ModelDialect>> = {
  library: 'ollama',
  organization_owner: 'lm-studio',
  llamacpp: 'llama.cpp',
  vllm: 'vllm',
};

/** Matches models for other purposes than text, which most lists mark only by their names. */
const OTHER_KIND =
  /embed|whisper|\btts|dall-e|image|\bsora|rerank|moderation|realtime|transcri|audio|speech|babbage|davinci/i;

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
