import { z } from 'zod';
import { mustProveIn } from '#core/accounts/identity/index.ts';
import { claimIdempotencyKey, type StoredResponse } from '#core/foundation/idempotency/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { type AccessOf, type AuthKind, actorOf, type Via } from './access.ts';
import type { Deps } from './deps.ts';
import { assertStorable } from './http/body.ts';
import { notFoundOf, validate } from './http/validate.ts';
import type { Input, JsonRoute, Reply, Route, Wait } from './route.ts';
import { oncePerObject } from '#lib/coalesce.ts';

/** A call of an operation by an authorized caller, before its values are parsed. */
export interface Call {
  readonly access: AccessOf<AuthKind>;
  readonly requestId: string;
  readonly clientAddress: string;
  /** Set for a call that is not plain HTTP. */
  readonly via?: Via;
  /** Path with the values of its parameters. An idempotency key counts for one path only. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Reads the body and its bytes; undefined without a body. Called after everything else is parsed. */
  readonly body: () => Promise<{ readonly raw: Buffer; readonly value: unknown } | undefined>;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Set when the caller wants to wait and the route supports it. */
  readonly wait?: Wait | undefined;
}

export interface Performed extends StoredResponse {
  readonly query: object;
  readonly nextCursor?: string | undefined;
  /** The response of an earlier call under the same idempotency key. */
  readonly isReplay?: true;
}

/**
 * Performs a declared operation for any protocol: parses, deduplicates, handles, and checks the response.
 * @throws {AppError} of parsing, of idempotency and of the operation itself
 */
export async function perform(route: JsonRoute, call: Call, deps: Deps): Promise<Performed> {
  const { input, raw } = await parse(route, call, deps);
  await assertProvenThere(input, deps);
  const { spec } = route;
  const { query } = input;
  const key = spec.idempotent === true ? idempotencyKey(call) : undefined;
  if (key === undefined) {
    const reply = await route.handle(input);
    return { ...responseOf(route, reply, deps), query, nextCursor: reply.nextCursor };
  }

  const scope = `${tenantOf(call.access)} ${spec.method} ${call.path}`;
  const claim = await claimIdempotencyKey(deps, { scope, key, body: raw });
  if (claim.kind === 'replay') return { ...claim.response, query, isReplay: true };
  try {
    const reply = await route.handle({ ...input, newId: claim.newId });
    const response = responseOf(route, reply, deps);
    await claim.store({ ...response, data: forReplay(route, response.data) });
    return { ...response, query };
  } catch (error) {
    await claim.release(error instanceof AppError && error.status < 500 ? 'refused' : 'unknown');
    throw error;
  }
}

/** Parses the values of a call, in the order of the request: path, query, body. @throws {AppError} of parsing */
export async function parse(
  { spec }: Route,
  call: Call,
  deps: Deps,
): Promise<{ readonly input: Input<AuthKind, unknown, object, unknown>; readonly raw: Buffer }> {
  const { access, requestId, clientAddress, via, wait } = call;
  const params = parseParams(spec, call.params);
  const query = parseQuery(spec, call.query);
  const { raw, value: body } = await parseBody(spec, call);
  const by = { ...actorOf(access, clientAddress), ...(via && { via }) };
  const { conditional = false } = spec;
  const ifMatch = conditional === false ? undefined : call.ifMatch;
  const ifNoneMatch = conditional === 'create' ? call.ifNoneMatch : undefined;
  const values = { params, query, body, ifMatch, ifNoneMatch, wait };
  return { input: { ...values, access, by, deps, requestId, newId }, raw };
}

const place = z.object({ organizationId: z.string().optional(), projectId: z.string().optional() });

async function assertProvenThere(
  { access, params, query, body }: Input<AuthKind, unknown, object, unknown>,
  { database }: Deps,
): Promise<void> {
  if (access === undefined || !('provenAt' in access)) return;
  const { data: named = {} } = place.safeParse({ ...Object(body), ...query, ...Object(params) });
  if (named.organizationId === undefined && named.projectId === undefined) return;
  if (await mustProveIn(database, access, named)) throw new AppError('reauthentication_required');
}

type Spec = Route['spec'];

function parseParams(spec: Spec, params: Call['params']): unknown {
  if (spec.params === undefined) return {};
  const parsed = spec.params.safeParse(params);
  if (parsed.success) return parsed.data;
  const malformed = String(parsed.error.issues[0]?.path[0]);
  const code = notFoundIn(spec).get(malformed) ?? 'route_not_found';
  // A malformed external key gets an error that names its fault; a malformed id counts as not found.
  if (code === 'invalid_request') validate(spec.params, params);
  throw new AppError(code);
}

const notFoundIn = oncePerObject(({ path }: Spec) => notFoundOf(path));

function parseQuery(spec: Spec, query: Call['query']): object {
  if (spec.query !== undefined) {
    assertStorable(query);
    return validate(spec.query, query);
  }
  if (Object.keys(query).length > 0) {
    throw new AppError('invalid_request', 'This operation takes no query parameters.');
  }
  return {};
}

/** Replaces the missing body of an operation that needs none. */
const NOTHING = { raw: Buffer.alloc(0), value: {} };

async function parseBody(spec: Spec, call: Call): Promise<{ raw: Buffer; value: unknown }> {
  // Authentication has already read the body of a signed event.
  if (spec.method === 'GET' || spec.auth === 'stripe-signature') return NOTHING;
  const { raw, value } = (await call.body()) ?? NOTHING;
  if (spec.body !== undefined) return { raw, value: validate(spec.body, value) };
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) {
    throw new AppError('invalid_request', 'body: this operation takes an empty object or no body');
  }
  return NOTHING;
}

function responseOf(route: Route, reply: Reply<unknown>, deps: Deps): StoredResponse {
  return {
    status: route.spec.success.status,
    data: checked(route, reply.data, deps),
    headers: reply.headers ?? {},
  };
}

/** Checks a response against its OpenAPI schema, outside production, so that any test finds a mismatch. */
export function checked({ spec }: Route, data: unknown, deps: Deps): unknown {
  return deps.config.NODE_ENV === 'production' ? data : spec.success.data.parse(data);
}

function tenantOf(access: AccessOf<AuthKind>): string {
  if (access === undefined) return 'public';
  if ('projectId' in access) return access.projectId;
  return 'userId' in access ? access.userId : 'public';
}

function idempotencyKey({ idempotencyKey: key }: Call): string | undefined {
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new AppError('invalid_request', 'Idempotency-Key: 1 to 255 printable ASCII characters without spaces');
}

function forReplay({ spec: { shownOnce = [] } }: Route, data: unknown): unknown {
  if (shownOnce.length === 0 || typeof data !== 'object' || data === null) return data;
  const shown = shownOnce.filter((field) => field in data);
  return { ...data, ...Object.fromEntries(shown.map((field) => [field, null])) };
}
