import { CallFailure, type CatalogResult, type VerifyResult } from '#lib/envelope/index.ts';
import { valueAt, valuesAt, type ProviderFile } from '#lib/provider-file/index.ts';
import { requestJson, type ProviderCall } from './request-json.ts';

const MAX_PAGES = 20;
const MAX_MODELS = 2_000;

type Model = CatalogResult['models'][number];

/** Lists the models of the account, page by page, as the file specifies. @throws {CallFailure} */
export async function listModels(call: ProviderCall): Promise<CatalogResult> {
  const { models } = call.provider.file;
  const found = new Map<string, Model>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && found.size < MAX_MODELS; page += 1) {
    const query: [string, string] | undefined =
      cursor === undefined || models.page === undefined ? undefined : [models.page.parameter, cursor];
    const outcome = await requestJson(call, {
      path: models.path,
      ...(query === undefined ? {} : { query }),
    });
    if ('failure' in outcome) throw new CallFailure(outcome.failure.code, outcome.failure.details);
    const list = valuesAt(outcome.body, models.list).flat(1);
    for (const model of list.flatMap((each) => readModel(each, models))) {
      if (found.size < MAX_MODELS) found.set(model.id, model);
    }
    const next = nextCursor(outcome.body, models.page);
    if (next === undefined || next === cursor) break;
    cursor = next;
  }
  return { models: [...found.values()] };
}

function readModel(value: unknown, models: ProviderFile['models']): Model[] {
  const { keep } = models;
  if (keep !== undefined && valueAt(value, keep.path) !== keep.equals) return [];
  const id = valueAt(value, models.id);
  if (typeof id !== 'string' || id === '' || id.length > 300) return [];
  const name = models.name === undefined ? undefined : valueAt(value, models.name);
  const tokens = models.contextTokens === undefined ? undefined : valueAt(value, models.contextTokens);
  return [
    {
      id,
      name: typeof name === 'string' && name !== '' ? name.slice(0, 300) : id,
      contextTokens: typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null,
    },
  ];
}

function nextCursor(body: unknown, page: ProviderFile['models']['page']): string | undefined {
  if (page === undefined) return undefined;
  if (page.more !== undefined && valueAt(body, page.more) !== true) return undefined;
  const cursor = valueAt(body, page.cursor);
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

/**
 * Tries a credential by the request that the file names; this request costs nothing. An account that is used up or busy
 * proves the credential; an unreachable provider proves nothing.
 */
export async function verifyCredential(call: ProviderCall): Promise<VerifyResult> {
  const outcome = await requestJson(call, call.provider.file.verify);
  // Accept a 200 without JSON, with which some providers respond: the status is proof enough.
  if ('body' in outcome || outcome.failure.code === 'malformed') return ACCEPTED;
  const { code, details } = outcome.failure;
  if (code === 'credential_refused') {
    return { credential: 'rejected', limited: false, resetAt: null };
  }
  if (code === 'usage_limit' || code === 'rate_limited') {
    return { credential: 'accepted', limited: true, resetAt: details.resetAt ?? null };
  }
  return { credential: 'unchecked', limited: false, resetAt: null };
}

const ACCEPTED: VerifyResult = { credential: 'accepted', limited: false, resetAt: null };
