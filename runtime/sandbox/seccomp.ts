/**
 * Returns the filter of forbidden system calls, as the program that bubblewrap passes to the kernel (`--seccomp`).
 * Namespaces remove files and network; this filter removes child processes, memory that no limit counts, and calls that
 * have broken kernels. Threads stay, because Node needs them.
 * @returns undefined for an architecture whose numbers of system calls are not listed here
 */
export function seccompProgram(arch: string): Buffer | undefined {
  const abi = ABIS[arch];
  if (abi === undefined) return undefined;
  const { calls } = abi;
  return Buffer.concat([
    load(OFFSET_ARCH),
    ...unless(abi.audit, [ret(KILL)]),
    load(OFFSET_CALL),
    // The x32 calls of an x86 kernel are refused, because they are the same calls under other numbers.
    instruction(JUMP_GE, 0, 1, 0x4000_0000),
    ret(ERRNO | ENOSYS),
    // `clone3` is refused: its flags are in memory, which a filter cannot read. The C library then uses `clone`.
    ...when(435, [ret(ERRNO | ENOSYS)]),
    ...[...SAME_EVERYWHERE, ...calls.denied].flatMap((call) => when(call, [ret(ERRNO | EPERM)])),
    ...when(calls.clone, [
      load(argument(0)),
      instruction(JUMP_SET, 1, 0, CLONE_THREAD),
      ret(ERRNO | EPERM),
      ret(ALLOW),
    ]),
    ...when(calls.socket, [
      load(argument(0)),
      instruction(JUMP_EQ, 1, 0, AF_UNIX),
      ret(ERRNO | EAFNOSUPPORT),
      ret(ALLOW),
    ]),
    ...when(calls.mmap, [
      load(argument(3)),
      instruction(JUMP_SET, 0, 1, MAP_SHARED | MAP_GROWSDOWN),
      ret(ERRNO | EPERM),
      ret(ALLOW),
    ]),
    ret(ALLOW),
  ]);
}

interface Abi {
  readonly audit: number;
  readonly calls: {
    readonly clone: number;
    readonly socket: number;
    readonly mmap: number;
    readonly denied: readonly number[];
  };
}

/** Denied calls that have the same numbers on every architecture: io_uring, the new mount calls, memfd_secret. */
const SAME_EVERYWHERE = [425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 447];

/**
 * Denied calls of each architecture: fork and vfork; ptrace, process_vm_*, mount, umount2, pivot_root, unshare, setns,
 * the keyring, bpf, userfaultfd, perf_event_open; shmget, shmat and memfd_create, whose memory RLIMIT_DATA does not
 * count.
 */
const ABIS: Readonly<Record<string, Abi>> = {
  x64: {
    audit: 0xc000_003e,
    calls: {
      clone: 56,
      socket: 41,
      mmap: 9,
      denied: [57, 58, 101, 310, 311, 165, 166, 155, 272, 308]
        .concat([248, 249, 250, 321, 323, 298])
        .concat([29, 30, 319]),
    },
  },
  arm64: {
    audit: 0xc000_00b7,
    calls: {
      clone: 220,
      socket: 198,
      mmap: 222,
      denied: [117, 270, 271, 40, 39, 41, 97, 268, 217, 218, 219, 280, 282, 241, 194, 196, 279],
    },
  },
};

const OFFSET_CALL = 0;
const OFFSET_ARCH = 4;
const LOAD = 0x20;
const JUMP_EQ = 0x15;
const JUMP_GE = 0x35;
const JUMP_SET = 0x45;
const RETURN = 0x06;

const KILL = 0x8000_0000;
const ERRNO = 0x0005_0000;
const ALLOW = 0x7fff_0000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const CLONE_THREAD = 0x0001_0000;
const AF_UNIX = 1;
/** Flags of `mmap` that are refused, because `prlimit` does not count shared maps and maps that grow downwards. */
const MAP_SHARED = 0x01;
const MAP_GROWSDOWN = 0x100;

function argument(index: number): number {
  return 16 + 8 * index;
}

function load(offset: number): Buffer {
  return instruction(LOAD, 0, 0, offset);
}

function ret(action: number): Buffer {
  return instruction(RETURN, 0, 0, action);
}

function when(value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(JUMP_EQ, 0, then.length, value), ...then];
}

function unless(value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(JUMP_EQ, then.length, 0, value), ...then];
}

function instruction(code: number, jumpTrue: number, jumpFalse: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
