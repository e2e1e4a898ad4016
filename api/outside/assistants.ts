import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { CLIENT_ADDRESS_HEADER, ensureMcpResource, mcpResource } from '#core/accounts/identity/index.ts';
import { endReusedGrant, isExchangedNow } from '#core/accounts/programs/index.ts';
import { SCOPES } from '#core/accounts/organizations/index.ts';
import { AppError } from '#lib/errors.ts';
import type { Deps } from '../deps.ts';
import { assertStorable, readBody, readJson } from '../http/body.ts';
import { validate } from '../http/validate.ts';

const MAX_BODY_BYTES = 16 * 1024;
const text = z.string().max(4_000);

/** Parameters that the authorization endpoint reads. Other parameters are ignored. */
const authorization = z.object({
  client_id: text,
  redirect_uri: text,
  response_type: text.optional(),
  scope: text.optional(),
  state: text.optional(),
  code_challenge: text.optional(),
  code_challenge_method: text.optional(),
  resource: text.optional(),
  prompt: text.optional(),
});

/** Parameters that the token and revocation endpoints read. Clients are public: a secret or an assertion is ignored. */
const tokenRequest = z.object({
  grant_type: text.optional(),
  client_id: text.optional(),
  code: text.optional(),
  code_verifier: text.optional(),
  redirect_uri: text.optional(),
  refresh_token: text.optional(),
  scope: text.optional(),
  resource: text.optional(),
  token: text.optional(),
  token_type_hint: text.optional(),
});

/** Metadata that a registration reads. Other fields are ignored. */
const registration = z.object({
  client_name: z.string().max(100).optional(),
  redirect_uris: z.array(z.string().max(1_000)).min(1).max(10),
});

const ENDPOINTS: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/auth/oauth2/authorize': 'GET',
  '/auth/oauth2/token': 'POST',
  '/auth/oauth2/revoke': 'POST',
  '/auth/oauth2/register': 'POST',
};

/**
 * Serves the authorization server for assistants (OAuth 2.1). Its endpoints are not operations of the API: standards
 * define their form, which has no envelope. Only the listed requests reach the library, without a browser's cookies: a
 * person consents on the page `/authorize` of the dashboard.
 */
export function assistantSignIn(deps: Deps): Middleware {
  const { config } = deps;
  const [resource, server] = [resourceMetadata(config), serverMetadata(config)];
  // Serve the documents at the root too, where older clients look for them.
  const documents: Readonly<Record<string, object>> = {
    '/.well-known/oauth-protected-resource/mcp': resource,
    '/.well-known/oauth-protected-resource': resource,
    '/.well-known/oauth-authorization-server/auth': server,
    '/.well-known/oauth-authorization-server': server,
  };
  const resourceIsThere = once(() => ensureMcpResource(deps.database, config.PUBLIC_URL));
  return async (ctx, next) => {
    const document = documents[ctx.path];
    const method = document === undefined ? ENDPOINTS[ctx.path] : 'GET';
    const isOff = ctx.path.endsWith('/register') && !config.OAUTH_CLIENT_REGISTRATION_ENABLED;
    if (method === undefined || isOff) return next();
    ctx.state.route = ctx.path;
    if (ctx.method !== method && !(method === 'GET' && ctx.method === 'HEAD')) {
      throw new AppError('method_not_allowed', undefined, { Allow: method });
    }
    if (document === undefined) await forward(ctx, deps, resourceIsThere);
    else {
      ctx.set('Cache-Control', 'public, max-age=3600');
      ctx.set('Access-Control-Allow-Origin', '*');
      ctx.type = 'application/json';
      ctx.body = JSON.stringify(document);
    }
    return undefined;
  };
}

type Origins = Pick<Deps['config'], 'PUBLIC_URL' | 'OAUTH_CLIENT_REGISTRATION_ENABLED'>;

/** Describes the resource `/mcp` (RFC 9728). */
function resourceMetadata({ PUBLIC_URL: publicUrl }: Origins): object {
  return {
    resource: mcpResource(publicUrl),
    authorization_servers: [`${publicUrl}/auth`],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
  };
}

/** Describes the authorization server (RFC 8414), without the features of the library that are not served. */
function serverMetadata(config: Origins): object {
  const issuer = `${config.PUBLIC_URL}/auth`;
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth2/authorize`,
    token_endpoint: `${issuer}/oauth2/token`,
    revocation_endpoint: `${issuer}/oauth2/revoke`,
    ...(config.OAUTH_CLIENT_REGISTRATION_ENABLED && {
      registration_endpoint: `${issuer}/oauth2/register`,
    }),
    scopes_supported: [...SCOPES, 'offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = undefined;
      throw error;
    }));
}

async function forward(ctx: Context, deps: Deps, resourceIsThere: () => Promise<void>): Promise<void> {
  ctx.set('Cache-Control', 'no-store');
  const { auth, config } = deps;
  const url = new URL(ctx.path, config.PUBLIC_URL);
  const headers = new Headers({ [CLIENT_ADDRESS_HEADER]: deps.clientAddress(ctx.req) });
  let response: Response;
  try {
    if (ctx.path.endsWith('/authorize')) {
      await resourceIsThere();
      url.search = authorizationQuery(ctx, config.PUBLIC_URL).toString();
      headers.set('Accept', 'text/html');
      response = await auth.handler(new Request(url, { headers }));
    } else {
      const { type, body } = await (ctx.path.endsWith('/register') ? client : form)(ctx);
      headers.set('Content-Type', type);
      headers.set('Accept', 'application/json');
      const call = () => auth.handler(new Request(url, { method: 'POST', headers, body }));
      response = ctx.path.endsWith('/register') ? await call() : await withRefreshToken(body, call, deps);
    }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    fail(ctx, error.status, 'invalid_request', error.message);
    return;
  }
  await send(ctx, response, config);
}

/**
 * Passes a refresh token to the library, for exchange or revocation. A token that is presented a second time ends the
 * access, unless its first exchange was a moment ago.
 */
async function withRefreshToken(body: string, call: () => Promise<Response>, deps: Deps): Promise<Response> {
  const given = new URLSearchParams(body);
  const exchanged = given.get('refresh_token');
  const token = exchanged ?? given.get('token');
  if (token === null) return call();
  const presented = { token, clientId: given.get('client_id') ?? '' };
  if (await endReusedGrant(deps, presented)) {
    if (exchanged === null) return new Response(null, { status: 200 });
    return Response.json({ error: 'invalid_grant', error_description: 'The refresh token was used.' }, { status: 400 });
  }
  const response = await call();
  // Another request has just exchanged the token: a second call of the library gets the same response.
  return exchanged !== null && response.status === 400 && (await isExchangedNow(deps, presented)) ? call() : response;
}

/**
 * Reads the request for access. The default resource is this service. A refresh token is always requested, because an
 * assistant works while its person is away. A person consents each time, so only the prompt `none` matters.
 */
function authorizationQuery(ctx: Context, publicUrl: string): URLSearchParams {
  const given = { ...ctx.query };
  assertStorable(given);
  const { prompt, ...asked } = validate(authorization, given);
  const query = new URLSearchParams({ resource: mcpResource(publicUrl), ...defined(asked) });
  const scope = asked.scope?.trim() || SCOPES.join(' ');
  query.set('scope', [...new Set([...scope.split(/\s+/), 'offline_access'])].join(' '));
  if (prompt === 'none') query.set('prompt', 'none');
  return query;
}

async function form(ctx: Context) {
  if (ctx.is('application/x-www-form-urlencoded') === false) {
    throw new AppError('unsupported_media_type', 'Send a form.');
  }
  const given = new URLSearchParams((await readBody(ctx, MAX_BODY_BYTES)).toString());
  const names = [...given.keys()];
  if (new Set(names).size < names.length) {
    throw new AppError('invalid_request', 'A parameter is repeated.');
  }
  const fields = Object.fromEntries(given);
  assertStorable(fields);
  const body = new URLSearchParams(defined(validate(tokenRequest, fields))).toString();
  return { type: 'application/x-www-form-urlencoded', body };
}

async function client(ctx: Context) {
  const { value } = await readJson(ctx, MAX_BODY_BYTES);
  assertStorable(value);
  const { redirect_uris: uris, client_name: name } = validate(registration, value);
  const body = JSON.stringify({
    client_name: name,
    redirect_uris: uris,
    application_type: uris.every((uri) => uri.startsWith('https:')) ? 'web' : 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
  return { type: 'application/json', body };
}

/** Sends the library's response. Errors of this service get the form of the standard. */
async function send(ctx: Context, response: Response, { UI_ORIGIN: uiOrigin }: Deps['config']): Promise<void> {
  const location = response.headers.get('location');
  ctx.status = response.status;
  if (location !== null && response.status < 400) {
    ctx.set('Location', packed(location, `${uiOrigin}/authorize`));
    ctx.body = null;
    ctx.status = response.status;
    return;
  }
  const wait = response.headers.get('retry-after') ?? response.headers.get('x-retry-after');
  if (wait !== null) ctx.set('Retry-After', wait);
  const { error, message, ...body } = answer.parse(JSON.parse((await response.text()) || '{}'));
  if (response.ok) {
    ctx.type = 'application/json';
    ctx.body = JSON.stringify({ ...body, ...(error !== undefined && { error }) });
    return;
  }
  const code = error ?? (response.status === 429 ? 'slow_down' : 'invalid_request');
  fail(ctx, response.status, code, body.error_description ?? message ?? 'The request was refused.');
}

/**
 * Packs the signed query into one parameter for the dashboard's page. The query repeats names, and a sign-in on the way
 * would drop the repeats.
 */
function packed(location: string, page: string): string {
  const [address, query = ''] = location.split('?');
  if (address !== page || !query.includes('sig=')) return location;
  return `${page}?${new URLSearchParams({ request: query }).toString()}`;
}

const answer = z.looseObject({
  error: z.string().optional(),
  error_description: z.string().optional(),
  message: z.string().optional(),
});

function fail(ctx: Context, status: number, error: string, description: string): void {
  ctx.status = status;
  ctx.type = 'application/json';
  ctx.body = JSON.stringify({ error, error_description: description });
}

function defined(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])),
  );
}
