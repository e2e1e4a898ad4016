import type { Context, Middleware } from 'koa';
import { AppError, type ErrorCode } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { type AccessOf, type AuthKind, actorOf } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { Reply, Route, SentEvent } from '../route.ts';
import { authenticate, isStillAllowed } from './authenticate.ts';
import { assertStorable, hasBody, readJson } from './body.ts';
import { sendEvents } from './event-stream.ts';
import { claimIdempotencyKey, type StoredResponse } from './idempotency.ts';
import { linkToNext } from './links.ts';
import { notFoundOf, validate } from './validate.ts';

/** Serves a declared operation: authenticate, parse, deduplicate, handle, check, respond. */
export function serve(route: Route, deps: Deps): Middleware {
  const { spec } = route;
  const notFound = notFoundOf(spec.path);
  return async (ctx) => {
    const produced = spec.success.stream === true ? 'text/event-stream' : 'application/json';
    if (!ctx.accepts(produced)) throw new AppError('not_acceptable');
    const access = await authenticate(ctx, spec, deps);
    const params = parseParams(route, ctx, notFound);
    const query = parseQuery(route, ctx);
    const body = await parseBody(route, ctx);

    const input = {
      params,
      query,
      body: body.value,
      access,
      by: actorOf(access, deps.clientAddress(ctx.req)),
      deps,
      requestId: String(ctx.state.requestId),
      ifMatch: spec.conditional === true ? ifMatch(ctx) : undefined,
      newId,
    };
    if ('stream' in route) {
      await sendEvents(ctx, {
        open: async (streamed) => {
          const events = await route.stream({ ...input, ...streamed });
          return events && checkedEach(route, events, deps);
        },
        isAllowed: (signal) => isStillAllowed(access, spec, deps, signal),
        checkEveryMs: deps.config.EVENT_STREAM_CHECK_SECONDS * 1_000,
      });
      return;
    }
    const key = spec.idempotent === true ? idempotencyKey(ctx) : undefined;
    if (key === undefined) {
      const reply = await route.handle(input);
      send(ctx, responseOf(route, withLink(reply, { ctx, query, deps }), deps));
      return;
    }

    const scope = `${tenantOf(access)} ${spec.method} ${ctx.path}`;
    const claim = await claimIdempotencyKey(deps, { scope, key, body: body.raw });
    if (claim.kind === 'replay') {
      send(ctx, claim.response);
      ctx.set('Idempotent-Replayed', 'true');
      return;
    }
    try {
      const reply = await route.handle({ ...input, newId: claim.newId });
      const response = responseOf(route, reply, deps);
      await claim.store({ ...response, data: forReplay(route, response.data) });
      send(ctx, response);
    } catch (error) {
      await claim.release(error instanceof AppError && error.status < 500 ? 'refused' : 'unknown');
      throw error;
    }
  };
}

function parseParams(
  { spec }: Route,
  ctx: Context,
  notFound: ReadonlyMap<string, ErrorCode>,
): unknown {
  if (spec.params === undefined) return {};
  const parsed = spec.params.safeParse(ctx.params);
  if (parsed.success) return parsed.data;
  const malformed = String(parsed.error.issues[0]?.path[0]);
  throw new AppError(notFound.get(malformed) ?? 'route_not_found');
}

function parseQuery({ spec }: Route, ctx: Context): object {
  if (spec.query !== undefined) {
    const query = { ...ctx.query };
    assertStorable(query);
    return validate(spec.query, query);
  }
  if (ctx.querystring !== '') {
    throw new AppError('invalid_request', 'This operation takes no query parameters.');
  }
  return {};
}

async function parseBody(
  { spec }: Route,
  ctx: Context,
): Promise<{ readonly raw: Buffer; readonly value: unknown }> {
  const nothing = { raw: Buffer.alloc(0), value: {} };
  // The body of a signed event was read to authenticate it.
  if (spec.method === 'GET' || spec.auth === 'stripe-signature') return nothing;
  if (!hasBody(ctx.req)) {
    if (spec.body === undefined) return nothing;
    if (spec.bodyOptional === true) return { ...nothing, value: validate(spec.body, {}) };
  }
  const { raw, value } = await readJson(ctx);
  if (spec.body !== undefined) return { raw, value: validate(spec.body, value) };
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) {
    throw new AppError('invalid_request', 'body: this operation takes an empty object or no body');
  }
  return nothing;
}

function withLink(
  reply: Reply<unknown>,
  { ctx, query, deps }: { ctx: Context; query: object; deps: Deps },
): Reply<unknown> {
  if (reply.nextCursor === undefined) return reply;
  const { PUBLIC_URL: publicUrl } = deps.config;
  const link = linkToNext(reply.nextCursor, { publicUrl, path: ctx.path, query });
  return { ...reply, headers: { ...reply.headers, ...link } };
}

function responseOf(route: Route, reply: Reply<unknown>, deps: Deps): StoredResponse {
  return {
    status: route.spec.success.status,
    data: checked(route, reply.data, deps),
    headers: reply.headers ?? {},
  };
}

/** Takes out of a response what is shown once: another person of the project may repeat the request. */
function forReplay({ spec: { shownOnce = [] } }: Route, data: unknown): unknown {
  if (shownOnce.length === 0 || typeof data !== 'object' || data === null) return data;
  const shown = shownOnce.filter((field) => field in data);
  return { ...data, ...Object.fromEntries(shown.map((field) => [field, null])) };
}

/** Checks a response against what OpenAPI promises, outside production, so that any test finds a mismatch. */
function checked({ spec }: Route, data: unknown, deps: Deps): unknown {
  return deps.config.NODE_ENV === 'production' ? data : spec.success.data.parse(data);
}

async function* checkedEach(route: Route, events: AsyncIterable<SentEvent>, deps: Deps) {
  for await (const event of events) {
    checked(route, event, deps);
    yield event;
  }
}

function send(ctx: Context, response: StoredResponse): void {
  ctx.status = response.status;
  ctx.set({ ...response.headers });
  // Every response belongs to one tenant, and some of what is sent is shown only once.
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ data: response.data, requestId: ctx.state.requestId });
}

function idempotencyKey(ctx: Context): string | undefined {
  const { 'idempotency-key': key } = ctx.req.headers;
  if (typeof key !== 'string') return undefined;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new AppError(
      'invalid_request',
      'Idempotency-Key: 1 to 255 printable ASCII characters without spaces',
    );
  }
  return key;
}

function ifMatch(ctx: Context): string | undefined {
  const value = ctx.get('if-match');
  return value === '' || value === '*' ? undefined : value;
}

function tenantOf(access: AccessOf<AuthKind>): string {
  if (access === undefined) return 'public';
  if ('projectId' in access) return access.projectId;
  return 'userId' in access ? access.userId : 'public';
}
