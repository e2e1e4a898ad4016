import type { Context, Middleware } from 'koa';
import { AppError } from '#lib/errors.ts';
import { isJsonObject } from '#lib/json.ts';
import type { Deps } from '../deps.ts';
import { type Call, checked, parse, perform } from '../perform.ts';
import type { EventRoute, Route, SentEvent } from '../route.ts';
import { authenticate, isStillAllowed } from './authenticate.ts';
import { hasBody, readJson } from './body.ts';
import { contentTag, hasSeen } from './entity-tag.ts';
import { sendEvents } from './event-stream.ts';
import { linkToNext, pageForm } from './links.ts';
import { waitOf } from './prefer.ts';

/** Serves a declared operation over HTTP: authenticate, perform, respond. */
export function serve(route: Route, deps: Deps): Middleware {
  const { spec } = route;
  return async (ctx) => {
    const produced = spec.success.stream === true ? 'text/event-stream' : 'application/json';
    if (spec.deprecated !== undefined) ctx.set(deprecationOf(spec.deprecated, deps.config));
    if (!ctx.accepts(produced)) throw new AppError('not_acceptable');
    const access = await authenticate(ctx, spec, deps);
    const { query: asked, inBody } = pageForm(spec, { ...ctx.query });
    const isAllowed = (signal: AbortSignal) => isStillAllowed(access, spec, deps, signal);
    const call: Call = {
      access,
      requestId: String(ctx.state.requestId),
      clientAddress: deps.clientAddress(ctx.req),
      path: ctx.path,
      params: ctx.params,
      query: asked,
      body: async () =>
        hasBody(ctx.req) || (spec.body !== undefined && spec.bodyOptional !== true) ? readJson(ctx) : undefined,
      ifMatch: ctx.get('if-match') || undefined,
      ifNoneMatch: ctx.get('if-none-match') || undefined,
      wait: spec.waits === true ? waitOf(ctx, isAllowed) : undefined,
      idempotencyKey: ctx.req.headers['idempotency-key']?.toString(),
    };
    if ('stream' in route) {
      await stream(route, { ctx, call, isAllowed, deps });
      return;
    }
    const { status, data, headers, query, nextCursor, isReplay } = await perform(route, call, deps);
    ctx.status = status;
    ctx.set({ ...headers });
    const { PUBLIC_URL: publicUrl } = deps.config;
    if (nextCursor !== undefined) {
      const again = inBody ? { ...query, page: 'body' } : query;
      ctx.append('Link', linkToNext(nextCursor, { publicUrl, path: ctx.path, query: again }));
    }
    const { location } = spec.success;
    if (location !== undefined) ctx.set('Location', publicUrl + filled(location, data));
    if (isReplay) ctx.set('Idempotent-Replayed', 'true');
    // Let no cache store a response: it belongs to one tenant, and some of its content is shown only once.
    ctx.set('Cache-Control', 'no-store');
    const said = JSON.stringify({ data, ...(inBody && { page: { nextCursor: nextCursor ?? null } }) });
    if (spec.method === 'GET' && headers['ETag'] === undefined) {
      const tag = contentTag(said, nextCursor ?? '');
      ctx.set('ETag', tag);
      if (hasSeen(call.ifNoneMatch, tag)) {
        ctx.status = 304;
        return;
      }
    }
    ctx.type = 'application/json';
    ctx.body = `${said.slice(0, -1)},"requestId":${JSON.stringify(ctx.state.requestId)}}`;
  };
}

/** Says that an operation is deprecated (RFC 9745), and when it ends (RFC 8594). */
function deprecationOf(
  { since, sunset }: NonNullable<Route['spec']['deprecated']>,
  { PUBLIC_URL: publicUrl }: Pick<Deps['config'], 'PUBLIC_URL'>,
): Record<string, string> {
  return {
    Deprecation: `@${Date.parse(since) / 1_000}`,
    Link: `<${publicUrl}/docs/api-stability.md>; rel="deprecation"; type="text/markdown"`,
    ...(sunset !== undefined && { Sunset: new Date(sunset).toUTCString() }),
  };
}

function filled(path: string, data: unknown): string {
  const fields = isJsonObject(data) ? data : {};
  return path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(fields[name])));
}

async function stream(
  route: EventRoute,
  request: {
    ctx: Context;
    call: Call;
    isAllowed: (signal: AbortSignal) => Promise<boolean>;
    deps: Deps;
  },
): Promise<void> {
  const { ctx, call, isAllowed, deps } = request;
  const { input } = await parse(route, call, deps);
  await sendEvents(ctx, {
    open: async (streamed) => {
      const events = await route.stream({ ...input, ...streamed });
      return events && checkedEach(route, events, deps);
    },
    isAllowed,
    checkEveryMs: deps.config.EVENT_STREAM_CHECK_SECONDS * 1_000,
  });
}

async function* checkedEach(route: Route, events: AsyncIterable<SentEvent>, deps: Deps) {
  for await (const event of events) {
    checked(route, event, deps);
    yield event;
  }
}
