import { ONLY_SOURCE, type ModelDialect, type ModelSource } from '#lib/config/index.ts';

/** The reason why a source gave no list. */
export type ListFault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'not_a_list' | 'too_large' | 'empty' | 'redirect' }
  | { readonly kind: 'timeout'; readonly seconds: number }
  /** `code` is the name of the error in the system or the TLS library, if there is one. */
  | { readonly kind: 'network'; readonly code: string | undefined };

export class ListError extends Error {
  readonly fault: ListFault;

  constructor(fault: ListFault, cause?: unknown) {
    super(`no list of models: ${fault.kind}`, { cause });
    this.name = 'ListError';
    this.fault = fault;
  }
}

/** Names the fault of a request that got no response. */
export function networkFault(error: unknown, timeoutMs: number): ListFault {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return { kind: 'timeout', seconds: Math.ceil(timeoutMs / 1_000) };
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message === 'unexpected redirect') return { kind: 'redirect' };
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return { kind: 'network', code: typeof code === 'string' ? code : undefined };
}

const DIALECT_NAMES: Readonly<Record<Exclude<ModelDialect, 'other'>, string>> = {
  openai: 'OpenAI',
  azure: 'Azure OpenAI',
  anthropic: 'Anthropic',
  gemini: 'Gemini',
  mistral: 'Mistral',
  groq: 'Groq',
  openrouter: 'OpenRouter',
  litellm: 'LiteLLM',
  'llama.cpp': 'llama.cpp',
  vllm: 'vLLM',
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
};

/** Returns the name of a source for people: the name of its server, unless the operator chose another. */
export function sourceLabel({ name, dialect }: Pick<ModelSource, 'name' | 'dialect'>): string {
  const server = dialect === 'other' ? undefined : DIALECT_NAMES[dialect];
  if (name === ONLY_SOURCE) return server ?? 'Model server';
  return server === undefined || name !== dialect ? name : server;
}

/** Returns the name of a source for the beginning of a sentence. */
export function subjectOf(source: Pick<ModelSource, 'name' | 'dialect'>): string {
  const label = sourceLabel(source);
  return label === 'Model server' ? `The ${label.toLowerCase()}` : label;
}

/**
 * Explains in one sentence why a source gave no list, and the remedy. The sentence never contains a key.
 * @param forOperator adds the address and the name of the key's variable, which tenants do not see
 */
export function faultInWords(source: ModelSource, fault: ListFault, forOperator: boolean): string {
  const place = forOperator ? `${subjectOf(source)} at ${source.baseUrl}` : subjectOf(source);
  switch (fault.kind) {
    case 'status':
      return `${place} answered ${fault.status}${afterStatus(source, fault.status, forOperator)}`;
    case 'timeout':
      return `${place} gave no answer in ${fault.seconds} s. Is it busy, or behind a firewall?`;
    case 'redirect':
      return `${place} answered with a redirect. Is this the address of the API?`;
    case 'not_a_list':
      return `${place} did not answer with a list of models. Check that the address leads to the API${lacksVersion(source) ? ' and ends with /v1' : ''}.`;
    case 'too_large':
      return `${place} answered with a list of models that is too large.`;
    case 'empty':
      return `${place} lists no model that writes text. Has one been loaded?`;
    case 'network':
      return `${place} ${inNetworkWords(source, fault.code, forOperator)}`;
  }
}

function afterStatus(source: ModelSource, status: number, forOperator: boolean): string {
  if (status === 401 || status === 403) {
    if (source.apiKey === undefined) return ': it wants a key, and none is configured.';
    const variable = forOperator ? source.apiKeyVariable : undefined;
    return `: the key${variable === undefined ? '' : ` in ${variable}`} was refused.`;
  }
  if (status === 404) {
    return ` to /models${lacksVersion(source) ? ': does the address lack /v1?' : '. Is the address right?'}`;
  }
  if (status === 429) return ': too many requests, or a quota that is used up.';
  return status >= 500 ? '. It may be starting; it is asked again.' : ' to /models.';
}

function inNetworkWords({ baseUrl }: ModelSource, code: string | undefined, forOperator: boolean): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'refused the connection. Is it running?';
    case 'ENOTFOUND':
    case 'EAI_AGAIN': {
      const host = forOperator ? ` (${new URL(baseUrl).hostname})` : '';
      return `is not known by its host name${host}. Is the address right?`;
    }
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
      return 'broke off the connection. Is it running?';
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'cannot be reached over the network. Is the address right?';
    case undefined:
      return 'could not be asked. Is it running?';
    default:
      return /CERT|SSL|TLS|SIGNED/.test(code)
        ? `has a certificate that is not trusted (${code}).`
        : `could not be asked (${code}). Is it running?`;
  }
}

/** Tells whether an address lacks its version. Most addresses end in a version; Gemini's ends in `/openai`. */
function lacksVersion({ baseUrl }: ModelSource): boolean {
  return !/\/(v\d\w*|openai)$/.test(new URL(baseUrl).pathname);
}
