import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import type { Config } from '#lib/config/index.ts';
import { AppError } from '#lib/errors.ts';
import { contentTag, hasSeen } from '../http/entity-tag.ts';
import { DOCS_POLICY, FORM_POLICY } from '../middleware/headers.ts';
import { routes } from '../routes.ts';
import { documentNamed, listForModels } from './documents.ts';
import { buildOpenApi } from './openapi.ts';
import { searchPage } from './search.ts';
import type { Audience } from './responses.ts';
import { htmlPage } from '#lib/text.ts';

const ASSETS = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

/**
 * Serves `/v1/openapi.json`, the page `/docs` that shows it, the documents in Markdown, a search in the documents, and
 * their list `/llms.txt`. All are public, because they say nothing that is not in the source.
 */
export function docs(config: Pick<Config, 'PUBLIC_URL' | 'PRODUCT_TAG'>): Middleware {
  const described = new Map<Audience, Described>();
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next();
    if (ctx.path === '/v1/openapi.json') {
      const audience = audienceOf(ctx.query['for']);
      // The document is made on the first request, because that takes 0.15 s of CPU.
      const document = described.get(audience) ?? describe(audience, config);
      described.set(audience, document);
      sendDescribed(ctx, document);
    } else if (ctx.path === '/docs' || ctx.path === '/docs/') {
      ctx.type = 'text/html';
      ctx.set('Content-Security-Policy', DOCS_POLICY);
      ctx.body = PAGE;
    } else if (ctx.path === '/docs/search') {
      ctx.type = 'text/html';
      ctx.set('Content-Security-Policy', FORM_POLICY);
      ctx.body = await searchPage([ctx.query['q'] ?? ''].flat().join(' '));
    } else if (ctx.path === '/docs/start.js') {
      ctx.type = 'text/javascript';
      ctx.body = START;
    } else if (ctx.path === '/llms.txt') {
      ctx.type = 'text/plain';
      ctx.body = await listForModels(config.PUBLIC_URL);
    } else if (/^\/docs\/[a-z-]+\.md$/.test(ctx.path)) {
      const document = await documentNamed(path.basename(ctx.path));
      if (document === undefined) return next();
      ctx.type = 'text/markdown';
      ctx.body = document;
    } else {
      const file = /^\/docs\/([\w.-]+)$/.exec(ctx.path)?.[1];
      const type = file === undefined || !Object.hasOwn(FILES, file) ? undefined : FILES[file];
      if (file === undefined || type === undefined) return next();
      ctx.type = type;
      ctx.body = createReadStream(path.join(ASSETS, file));
    }
    ctx.state.route = ctx.path;
    return undefined;
  };
}

/** The bodies of a document, plain and compressed, and the `ETag` of its responses. */
interface Described {
  readonly plain: string;
  readonly compressed: Buffer;
  readonly etag: string;
}

function audienceOf(asked: string | readonly string[] | undefined): Audience {
  if (asked === undefined) return 'all';
  if (asked === 'keys') return 'keys';
  throw new AppError('invalid_request', 'for: must be keys, or left out for all operations');
}

function describe(audience: Audience, config: Pick<Config, 'PUBLIC_URL' | 'PRODUCT_TAG'>): Described {
  const options = { publicUrl: config.PUBLIC_URL, productTag: config.PRODUCT_TAG, for: audience };
  const plain = JSON.stringify(buildOpenApi(routes, options));
  return { plain, compressed: gzipSync(plain), etag: contentTag(plain) };
}

function sendDescribed(ctx: Context, { plain, compressed, etag }: Described): void {
  ctx.status = 200;
  ctx.type = 'application/json';
  ctx.set({ ETag: etag, 'Cache-Control': 'no-cache' });
  ctx.vary('Accept-Encoding');
  if (hasSeen(ctx.get('if-none-match') || undefined, etag)) {
    ctx.status = 304;
  } else if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
    ctx.set('Content-Encoding', 'gzip');
    ctx.body = compressed;
  } else {
    ctx.body = plain;
  }
}

const PAGE = htmlPage(
  `<title>Routine Automation Service API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">`,
  `<p><a href="/docs/search">Search the documents</a></p>
<div id="api"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>`,
);

const START = `window.ui = SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  requestSnippetsEnabled: true,
  validatorUrl: null,
});
`;
