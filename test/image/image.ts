import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const { IMAGE, BASE_IMAGE, NODE_IMAGE, NODE_EXTRA_CA_CERTS } = process.env;

/** A built image, mounted read-only as the root of the started commands. */
export interface Image {
  readonly root: string;
  /** Unpacked size in bytes. */
  readonly bytes: number;
  /** Starts a command of the image as user 1000, without capabilities and with this environment only. */
  start(args: readonly string[], env: Record<string, string>): Started;
  /** Puts a secret where the image's user can read it, as an orchestrator does; returns its path in the image. */
  secret(name: string, value: string): Promise<string>;
  remove(): Promise<void>;
}

export interface Started {
  output(): string;
  /** Waits until the process has printed this text. */
  until(text: string): Promise<void>;
  readonly ended: Promise<number | null>;
  /** Sends SIGTERM, and resolves with the exit code and the time in milliseconds. */
  stop(): Promise<{ readonly code: number | null; readonly ms: number }>;
}

/**
 * Builds a target of the Dockerfile by buildah in a chroot, without a registry. The base is a minimal Debian made from
 * its packages, and Node is this machine's. `BASE_IMAGE` and `NODE_IMAGE` name others; `IMAGE` names a built image.
 */
export async function openImage(target: 'service' | 'runtime'): Promise<Image> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-image-'));
  const container = await buildah(['from', IMAGE ?? (await build(folder, target))]);
  const mounted = await buildah(['mount', container]);
  const root = path.join(folder, 'root');
  await mkdir(root);
  await execute('mount', ['--bind', mounted, root]);
  await execute('mount', ['--options', 'remount,bind,ro', root]);
  await execute('mount', ['--types', 'proc', 'proc', path.join(root, 'proc')]);
  await execute('mount', ['--rbind', '--make-rslave', '/dev', path.join(root, 'dev')]);
  await execute('mount', ['--types', 'tmpfs', 'tmpfs', path.join(root, 'run')]);
  const { stdout } = await execute('du', ['--summarize', '--bytes', '--one-file-system', root]);
  return {
    root,
    bytes: Number.parseInt(stdout, 10),
    start: (command, env) => startIn(root, command, env),
    async secret(name, value) {
      const file = path.join('/run', name);
      await writeFile(path.join(root, file), `${value}\n`, { mode: 0o400 });
      await chown(path.join(root, file), 1000, 1000);
      return file;
    },
    async remove() {
      await execute('umount', ['--recursive', root]);
      await buildah(['rm', container]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function build(folder: string, target: string): Promise<string> {
  const base = BASE_IMAGE ?? (await makeBase(folder));
  const node = NODE_IMAGE ?? (await makeNode(folder, base));
  const tag = `localhost/ras-${target}`;
  const args = ['--build-arg', `BASE_IMAGE=${base}`, '--build-arg', `NODE_IMAGE=${node}`];
  await buildah(['bud', '--target', target, ...args, '--tag', tag, ROOT]);
  return tag;
}

async function makeBase(folder: string): Promise<string> {
  const tag = 'localhost/ras-base';
  const lean = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  await execute('mmdebstrap', [
    '--variant=minbase',
    ...lean,
    '--include=usr-is-merged',
    '--customize-hook=rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*',
    'bookworm',
    path.join(folder, 'base.tar'),
  ]);
  await writeFile(path.join(folder, 'Dockerfile'), 'FROM scratch\nADD base.tar /\n');
  await buildah(['bud', '--tag', tag, folder]);
  return tag;
}

async function makeNode(folder: string, base: string): Promise<string> {
  const tag = 'localhost/ras-node';
  const context = path.join(folder, 'node');
  await cp(await realpath(process.execPath), path.join(context, 'node'));
  await cp(await npmFolder(), path.join(context, 'npm'), { recursive: true });
  if (NODE_EXTRA_CA_CERTS !== undefined) await cp(NODE_EXTRA_CA_CERTS, path.join(context, 'ca'));
  else await writeFile(path.join(context, 'ca'), '');
  await writeFile(
    path.join(context, 'Dockerfile'),
    `FROM ${base}
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca /etc/extra-certificates.pem
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/extra-certificates.pem
`,
  );
  await buildah(['bud', '--tag', tag, context]);
  return tag;
}

/** Returns the folder of the npm that runs this script. The first Node on the path is a dependency, without an npm. */
async function npmFolder(): Promise<string> {
  const { npm_execpath: cli } = process.env;
  if (cli !== undefined) return path.dirname(path.dirname(await realpath(cli)));
  const { stdout } = await execute('npm', ['root', '--global']);
  return path.join(stdout.trim(), 'npm');
}

async function buildah(args: readonly string[]): Promise<string> {
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'vfs' };
  const { stdout } = await execute('buildah', [...args], { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trim();
}

function startIn(root: string, args: readonly string[], env: Record<string, string>): Started {
  const command = ['--userspec=1000:1000', root, '/bin/sh', '-c', 'cd /app && exec node "$@"'];
  const child = spawn('/usr/sbin/chroot', [...command, 'node', ...args], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.once('exit', () => child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  return {
    output: () => written,
    ended,
    async until(text) {
      for (const end = Date.now() + 60_000; !written.includes(text); await sleep(50)) {
        if (child.exitCode !== null || Date.now() > end) {
          throw new Error(`${args.join(' ')} never wrote "${text}":\n${written.slice(-4_000)}`);
        }
      }
    },
    async stop() {
      const from = Date.now();
      child.kill('SIGTERM');
      return { code: await ended, ms: Date.now() - from };
    },
  };
}
