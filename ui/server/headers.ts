import type { Middleware } from 'koa';

/** Policy of the pages: they load only files of this origin, no page may frame them, and no text is ever executed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Sets the headers of every response, with any status and source. */
export function securityHeaders(policy = POLICY): Middleware {
  const headers = constantHeaders(policy);
  return (ctx, next) => {
    ctx.set(headers);
    if (ctx.path === '/shared') ctx.set(OF_SHARED);
    return next();
  };
}

/** Returns the headers of every response, for responses that no middleware sees. */
export function constantHeaders(policy = POLICY): Readonly<Record<string, string>> {
  return { ...HEADERS, 'Content-Security-Policy': policy };
}

const HEADERS = {
  'X-Frame-Options': 'DENY',
  'Strict-Transport-Security': 'max-age=63072000; includeSubDomains; preload',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Permissions-Policy':
    'accelerometer=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()',
};

/** The page of a shared result: no search engine lists it, and no other site gets its address. */
const OF_SHARED = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' };

/** Names the constant headers, which a proxied response may not replace. */
export const CONSTANT_HEADERS: ReadonlySet<string> = new Set(
  ['Content-Security-Policy', ...Object.keys(HEADERS)].map((name) => name.toLowerCase()),
);
