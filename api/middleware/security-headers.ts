import helmet from 'koa-helmet';
import type { Middleware } from 'koa';

/** Answers are data and one documentation page of our own: nothing else may be loaded, framed or submitted. */
const CONTENT_SECURITY_POLICY = Object.entries({
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
})
  .map(([directive, sources]) => `${directive} ${sources}`)
  .join(';');

const others = helmet({
  // Ours is a constant; helmet would put it together for each answer.
  contentSecurityPolicy: false,
  crossOriginEmbedderPolicy: false,
  strictTransportSecurity: { maxAge: 63_072_000, includeSubDomains: true, preload: true },
  xFrameOptions: { action: 'deny' },
  // These speak to browsers and plug-ins that are gone.
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The headers that tell browsers what they may not do with our answers. */
export const securityHeaders: Middleware = (ctx, next) => {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY);
  return others(ctx, next);
};
