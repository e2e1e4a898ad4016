import type { Context, Middleware } from 'koa';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { AccessOf, AuthKind } from '../access.ts';
import type { Deps } from '../deps.ts';
import type { Reply, Route, SentEvent } from '../route.ts';
import { authenticate } from './authenticate.ts';
import { assertStorable, hasBody, readJson } from './body.ts';
import { sendEvents } from './event-stream.ts';
import { claimIdempotencyKey, type StoredAnswer } from './idempotency.ts';
import { linkToNext } from './links.ts';
import { validate } from './validate.ts';

/** The one pipeline of every declared operation: authenticate, parse, deduplicate, handle, check, answer. */
export function serve(route: Route, deps: Deps): Middleware {
  const { spec } = route;
  return async (ctx) => {
    const produced = spec.success.stream === true ? 'text/event-stream' : 'application/json';
    if (!ctx.accepts(produced)) throw new AppError('not_acceptable');
    const access = await authenticate(ctx, spec, deps);
    const params = parseParams(route, ctx);
    const query = parseQuery(route, ctx);
    const body = await parseBody(route, ctx);

    const input = {
      params,
      query,
      body: body.value,
      access,
      deps,
      requestId: String(ctx.state.requestId),
      ifMatch: spec.conditional === true ? ifMatch(ctx) : undefined,
      newId,
    };
    if ('stream' in route) {
      await sendEvents(ctx, async (streamed) => {
        const events = await route.stream({ ...input, ...streamed });
        return events && checkedEach(route, events, deps);
      });
      return;
    }
    const key = spec.idempotent === true ? idempotencyKey(ctx) : undefined;
    if (key === undefined) {
      const reply = await route.handle(input);
      send(ctx, answerOf(route, withLink(reply, { ctx, query, deps }), deps));
      return;
    }

    const scope = `${tenantOf(access)} ${spec.method} ${ctx.path}`;
    const claim = await claimIdempotencyKey(deps, { scope, key, body: body.raw });
    if (claim.kind === 'replay') {
      send(ctx, claim.answer);
      ctx.set('Idempotent-Replayed', 'true');
      return;
    }
    try {
      const reply = await route.handle({ ...input, newId: claim.newId });
      const answer = answerOf(route, reply, deps);
      await claim.store(answer);
      send(ctx, answer);
    } catch (error) {
      await claim.release(error instanceof AppError && error.status < 500 ? 'refused' : 'unknown');
      throw error;
    }
  };
}

function parseParams({ spec }: Route, ctx: Context): unknown {
  if (spec.params === undefined) return {};
  const parsed = spec.params.safeParse(ctx.params);
  if (!parsed.success) throw new AppError(spec.notFound ?? 'route_not_found');
  return parsed.data;
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
  if (spec.method === 'GET') return nothing;
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

function answerOf(route: Route, reply: Reply<unknown>, deps: Deps): StoredAnswer {
  return {
    status: route.spec.success.status,
    data: checked(route, reply.data, deps),
    headers: reply.headers ?? {},
  };
}

/** Outside production an answer that is not what OpenAPI promises is a fault of ours, found by any test. */
function checked({ spec }: Route, data: unknown, deps: Deps): unknown {
  return deps.config.NODE_ENV === 'production' ? data : spec.success.data.parse(data);
}

async function* checkedEach(route: Route, events: AsyncIterable<SentEvent>, deps: Deps) {
  for await (const event of events) {
    checked(route, event, deps);
    yield event;
  }
}

function send(ctx: Context, answer: StoredAnswer): void {
  ctx.status = answer.status;
  ctx.set({ ...answer.headers });
  // Whatever it is, it is one tenant's, and some of it is shown once.
  ctx.set('Cache-Control', 'no-store');
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ data: answer.data, requestId: ctx.state.requestId });
}

function idempotencyKey(ctx: Context): string | undefined {
  const key = ctx.get('idempotency-key');
  if (key === '') return undefined;
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
  return 'projectId' in access ? access.projectId : access.userId;
}
