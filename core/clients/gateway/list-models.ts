import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { ONLY_SOURCE, type ModelDialect, type ModelSource } from '#lib/config/index.ts';
import { ListError, networkFault } from './list-fault.ts';
import { readGatewayList, type ListedModels } from './read-list.ts';

const MAX_LIST_BYTES = 16 * 1024 * 1024;

/**
 * Asks a server for its models.
 * @throws {ListError} when it gives no list with a model that writes text
 */
export async function fetchModels(source: ModelSource, timeoutMs: number): Promise<ListedModels> {
  const { status, text } = await request(source, timeoutMs);
  if (text === undefined) throw new ListError({ kind: 'status', status });
  if (text.length > MAX_LIST_BYTES) throw new ListError({ kind: 'too_large' });
  let listed: ListedModels;
  try {
    listed = readGatewayList(JSON.parse(text), source.dialect);
  } catch (error) {
    throw new ListError({ kind: 'not_a_list' }, error);
  }
  if (listed.models.length === 0) throw new ListError({ kind: 'empty' });
  return listed;
}

async function request(source: ModelSource, timeoutMs: number) {
  try {
    const response = await fetch(`${source.baseUrl}/models${PAGES[source.dialect] ?? ''}`, {
      headers: headersOf(source),
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
    });
    if (response.ok) return { status: response.status, text: await response.text() };
    await response.body?.cancel();
    return { status: response.status, text: undefined };
  } catch (error) {
    throw new ListError(networkFault(error, timeoutMs), error);
  }
}

/** Queries for long pages: Anthropic lists twenty models by default. */
const PAGES: Partial<Record<ModelDialect, string>> = { anthropic: '?limit=1000' };

function headersOf({ apiKey, dialect }: ModelSource): Record<string, string> {
  if (apiKey === undefined) return {};
  // Anthropic's compatible endpoint takes a bearer key for calls, but its list needs the key in another header.
  return dialect === 'anthropic'
    ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
    : { Authorization: `Bearer ${apiKey}` };
}

/** A source, completed by facts from its server's list. */
export interface SeenSource extends ModelSource {
  /** True for the operator's own server, whose models cost nothing. */
  readonly local: boolean;
}

const OWN_SERVERS: ReadonlySet<ModelDialect> = new Set(['llama.cpp', 'vllm', 'ollama', 'lm-studio']);

/**
 * Completes a source with facts from its server's list, where the operator gave none. A server at a private address
 * that calls itself Ollama costs nothing. A server at a public address may be a paid service.
 */
export function seenSource(source: ModelSource, found: ModelDialect | undefined): SeenSource {
  const dialect = source.dialect === 'other' ? (found ?? 'other') : source.dialect;
  const isOwn = source.name === ONLY_SOURCE && OWN_SERVERS.has(dialect) && isPrivate(source.baseUrl);
  return { ...source, dialect, local: source.free || isOwn };
}

function isPrivate(baseUrl: string): boolean {
  const host = new URL(baseUrl).hostname.replaceAll(/^\[|\]$/g, '');
  if (isIP(host) === 0) return host === 'localhost' || /\.(local|internal|lan)$/.test(host);
  const range = ipaddr.process(host).range();
  return range === 'loopback' || range === 'private' || range === 'uniqueLocal';
}
