import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context, Middleware } from 'koa';
import { failure } from './failure.ts';

export interface BuiltFile {
  readonly type: string;
  readonly etag: string;
  /** True for a file whose name contains a hash of its content. Browsers may cache it for good. */
  readonly immutable: boolean;
  readonly body: Buffer;
  readonly encoded: ReadonlyMap<'br' | 'gzip', Buffer>;
}

export type BuiltFiles = ReadonlyMap<string, BuiltFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/**
 * Reads the built files into memory, compressed: a few megabytes. No request then touches a disk or can name a path.
 * @throws when there is no build
 */
export async function readFiles(folder: string): Promise<BuiltFiles> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = found
    // Only tests read the list of built files.
    .filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  const files = new Map(
    await Promise.all(
      names.map(async (name) => {
        const url = `/${name.split(path.sep).join('/')}`;
        return [url, await readBuilt(path.join(folder, name), url)] as const;
      }),
    ),
  );
  if (!files.has('/index.html')) {
    throw new Error('The dashboard is not built. Run `npm run ui:build` first.');
  }
  return files;
}

async function readBuilt(file: string, url: string): Promise<BuiltFile> {
  const body = await readFile(file);
  const extension = path.extname(file);
  return {
    type: TYPES[extension] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
    immutable: url.startsWith('/assets/'),
    body,
    // Fonts are compressed already.
    encoded: extension === '.woff2' || body.length < 512 ? new Map() : await compress(body),
  };
}

async function compress(body: Buffer) {
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    promisify(gzip)(body, { level: 9 }),
  ]);
  return new Map([
    ['br', br],
    ['gzip', gz],
  ] as const);
}

/** Serves the files, and for every other address the page, whose router resolves the address. */
export function serveFiles(files: BuiltFiles): Middleware {
  return (ctx) => {
    ctx.state.served = 'files';
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      return failure(ctx, 405, 'method_not_allowed', 'Pages can only be read.');
    }
    const isPage = !/\.[a-z0-9]+$/i.test(ctx.path) && !ctx.path.startsWith('/assets/');
    const name = isPage ? '/index.html' : ctx.path;
    const file = files.get(name);
    if (file === undefined) return failure(ctx, 404, 'route_not_found', 'There is no such file.');
    return send(ctx, file, name === '/index.html');
  };
}

function send(ctx: Context, file: BuiltFile, isPage: boolean): void {
  ctx.set('Vary', 'Accept-Encoding');
  ctx.set('Cache-Control', cacheControl(file, isPage));
  ctx.type = file.type;
  if (!isPage) ctx.set('ETag', file.etag);
  ctx.status = 200;
  if (!isPage && ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const encoding = ctx.acceptsEncodings('br', 'gzip', 'identity');
  const encoded = encoding === 'br' || encoding === 'gzip' ? file.encoded.get(encoding) : undefined;
  if (encoded !== undefined) ctx.set('Content-Encoding', String(encoding));
  ctx.body = encoded ?? file.body;
  ctx.type = file.type;
}

function cacheControl({ immutable }: BuiltFile, isPage: boolean): string {
  if (isPage) return 'no-store';
  return immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
}
