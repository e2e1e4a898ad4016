import { randomUUID } from 'node:crypto';
import type { Context, Next } from 'koa';

/** Sets the headers that restrict what browsers may do with responses. */
export function securityHeaders(ctx: Context, next: Next): Promise<void> {
  ctx.set(HEADERS);
  return next();
}

/** The policy of all other responses: a browser loads only the service's own files, and submits no form. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** The policy of the documentation page, whose library writes `style` attributes. */
export const DOCS_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

/** The policy of pages with a form: unsubscribing, and searching the documents. */
export const FORM_POLICY = POLICY.replace("form-action 'none'", "form-action 'self'");

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Origin-Agent-Cluster': '?1',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains; preload',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Names the request: the caller's `X-Request-Id` if it is well-formed, else a new one. */
export function requestId(ctx: Context, next: Next): Promise<void> {
  const given = ctx.get('x-request-id');
  ctx.state.requestId = /^[A-Za-z0-9._-]{8,128}$/.test(given) ? given : randomUUID();
  ctx.set('X-Request-Id', String(ctx.state.requestId));
  return next();
}
