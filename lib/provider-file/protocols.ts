export const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

export type Protocol = (typeof PROTOCOLS)[number];

/** A request that a model session may make: the path is appended to the file's `baseUrl`. */
export interface AllowedRequest {
  readonly method: string;
  readonly path: string;
}

/** The one request that a model step makes in each protocol, which is all that a session may send by default. */
const DEFAULT_REQUEST: Readonly<Record<Protocol, AllowedRequest>> = {
  'openai-chat': { method: 'POST', path: '/chat/completions' },
  'openai-responses': { method: 'POST', path: '/responses' },
  'anthropic-messages': { method: 'POST', path: '/messages' },
};

export function allowedRequests(api: {
  readonly protocol: Protocol;
  readonly allow?: readonly AllowedRequest[] | undefined;
}): readonly AllowedRequest[] {
  return api.allow ?? [DEFAULT_REQUEST[api.protocol]];
}
