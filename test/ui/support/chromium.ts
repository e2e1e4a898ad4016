import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { withLock } from '#dev/stack/lock.ts';

const run = promisify(execFile);

/** Starts a real Chromium: that of `CHROME_PATH`, or the one from a package. */
export async function launchChromium(): Promise<Browser> {
  const { executablePath, env } = await findChromium();
  return chromium.launch({
    executablePath,
    env: { ...process.env, ...env },
    // The browser opens only our own pages, and many build machines have no user namespaces.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--font-render-hinting=none'],
  });
}

/** Finds the browser. That of the package is unpacked once on each machine, with libraries that the system lacks. */
export function findChromium(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const { CHROME_PATH: own } = process.env;
  if (own) return Promise.resolve({ executablePath: own, env: {} });
  // Two test files may do this at the same time.
  return withLock(path.join(tmpdir(), 'routine-automation-chromium.lock'), async () => {
    const { default: chromiumPackage, inflate } = await import('@sparticuz/chromium');
    const executablePath = await chromiumPackage.executablePath();
    const { stdout } = await run('ldd', [executablePath]);
    if (!stdout.includes('not found')) return { executablePath, env: {} };
    const folder = path.dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium/package.json'));
    const libraries = await inflate(path.join(folder, 'bin', 'al2023.tar.br'));
    return { executablePath, env: { LD_LIBRARY_PATH: path.join(libraries, 'lib') } };
  });
}
