import { existsSync } from 'node:fs';
import path from 'node:path';

export type SandboxKind = 'bubblewrap' | 'process';

export interface SandboxCommand {
  readonly file: string;
  readonly args: readonly string[];
}

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Parts of the product that a session can read if it runs from the sources; paths from the root of the code. */
const CODE = [
  'package.json',
  'node_modules',
  'runtime/session',
  'runtime/sandbox/probe.ts',
  'lib/provider-file',
  'lib/exact-json',
];

/** Libraries of the system, for Node and `prlimit`. */
const LIBRARIES = ['/usr/lib', '/usr/lib64'];
const PRLIMIT = '/usr/bin/prlimit';
const DEVICES = ['/dev/null', '/dev/random', '/dev/urandom'];

/** Lists the files of the machine that every session can read, to check that no secret is among them. */
export const READABLE = [...LIBRARIES, ...CODE.map((part) => path.join(ROOT, part))];

/** The folder of the product. It has `.env` and `.data`, so sessions see only the parts in `CODE`. */
export const CODE_ROOT = ROOT;

const SOCKET_INSIDE = '/run/broker.sock';
const MEMORY_BYTES = 768 * 1024 * 1024;
const DISK_BYTES = 16 * 1024 * 1024;
/**
 * A session lives for one step, so its start is a large part of its cost. These flags save a sixth of the cost: new
 * objects have room from the beginning, and no further threads collect garbage.
 */
const NODE_FLAGS = ['--max-old-space-size=256', '--min-semi-space-size=16', '--single-threaded-gc'];

export interface SandboxEntry {
  /** Path of a script below the root of the code. An absolute path is bound as well, for tests. */
  readonly script: string;
  /** Socket of the broker. */
  readonly socketPath: string;
  /** Arguments of the script, after the socket; words without spaces. */
  readonly args?: readonly string[];
  /** Programs of `/usr/bin` that are bound as well, for tests. */
  readonly programs?: readonly string[];
  /** File descriptor of the filter of system calls. */
  readonly seccompFd?: number;
}

/**
 * Returns the command that runs a script with access only to Node, the system's libraries, the code and one socket.
 * `/usr/src` and `/usr/local` are left out, because a service may be installed there.
 */
export function bubblewrapCommand({
  script,
  socketPath,
  args = [],
  programs = [],
  seccompFd,
}: SandboxEntry): SandboxCommand {
  const isOurs = !path.isAbsolute(script);
  const inside = isOurs ? `/app/${script}` : '/app/script.ts';
  const code = codeOf(script).filter((part) => existsSync(path.join(ROOT, part)));
  return {
    file: 'bwrap',
    args: [
      // --unshare-user must be explicit, or --disable-userns is refused.
      ...words('--unshare-all --unshare-user --disable-userns --uid 1000 --gid 1000 --cap-drop ALL'),
      ...words('--die-with-parent --new-session --clearenv --hostname session'),
      ...LIBRARIES.flatMap((folder) =>
        existsSync(folder)
          ? [...bind(folder, folder), ...words(`--symlink ${folder.slice(1)} ${folder.slice('/usr'.length)}`)]
          : [],
      ),
      ...[PRLIMIT, ...programs].flatMap((program) => bind(program, program)),
      // Bind the Node that runs this process, which may be anywhere.
      ...bind(process.execPath, '/node'),
      ...code.flatMap((part) => bind(path.join(ROOT, part), `/app/${part}`)),
      ...(isOurs ? [] : bind(script, inside)),
      ...words(`--size ${DISK_BYTES} --tmpfs /tmp`),
      // Bind only these devices: /dev/zero and /dev/shm would give memory that no limit counts.
      ...DEVICES.flatMap((device) => words(`--dev-bind ${device} ${device}`)),
      ...bind(socketPath, SOCKET_INSIDE),
      ...words('--chdir /app'),
      ...(seccompFd === undefined ? [] : words(`--seccomp ${seccompFd}`)),
      // The remount must follow all mounts.
      ...words('--remount-ro / --'),
      // bubblewrap sets no limits. RLIMIT_DATA counts every private page, also of Buffers, which V8's own limit leaves
      // out.
      ...words(`${PRLIMIT} --core=0 --nofile=256 --cpu=60 --data=${MEMORY_BYTES}`),
      ...words(`--fsize=${DISK_BYTES} -- /node`),
      ...NODE_FLAGS,
      inside,
      SOCKET_INSIDE,
      ...args,
    ],
  };
}

/**
 * Returns the command of the fallback outside production: Node's permission model keeps honest code away from files and
 * other programs. It does not stop hostile code, and leaves the network open.
 */
export function processCommand({ script, socketPath, args = [] }: SandboxEntry): SandboxCommand {
  const readable = [...codeOf(script), script].map((part) => path.resolve(ROOT, part));
  return {
    file: process.execPath,
    args: [
      '--permission',
      ...readable.map((file) => `--allow-fs-read=${file}`),
      ...NODE_FLAGS,
      path.resolve(ROOT, script),
      socketPath,
      ...args,
    ],
  };
}

/** Returns the code that a session sees. A bundle is complete and needs no other code. */
function codeOf(script: string): readonly string[] {
  return script.endsWith('.mjs') ? [script] : CODE;
}

function words(text: string): string[] {
  return text.split(' ');
}

function bind(from: string, to: string): string[] {
  return ['--ro-bind', from, to];
}
