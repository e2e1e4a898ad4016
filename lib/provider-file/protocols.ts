export const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

export type Protocol = (typeof PROTOCOLS)[number];

/** A request that a model session may make: the path is appended to the file's `baseUrl`. */
export interface AllowedRequest {
  readonly method: string;
  readonly path: string;
}

/** The one request of a model step in each protocol. By default a session may send no other request. */
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

/**
 * Reads every value at a path: field names with dots between them, `*` for each element of a list. The empty path is
 * the value itself. Missing fields give nothing.
 */
export function valuesAt(value: unknown, path: string): unknown[] {
  const names = path === '' ? [] : path.split('.');
  return names.reduce<unknown[]>(
    (found, name) => found.flatMap((each) => (name === '*' ? (Array.isArray(each) ? each : []) : field(each, name))),
    [value],
  );
}

/** Reads the first value at a path, or undefined. */
export function valueAt(value: unknown, path: string): unknown {
  return valuesAt(value, path)[0];
}

function field(value: unknown, name: string): unknown[] {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  const entry: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
  return [entry];
}
