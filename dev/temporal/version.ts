import { readFileSync } from 'node:fs';

const goMod = readFileSync(new URL('./go.mod', import.meta.url), 'utf8');

/** Version of the Temporal CLI, which is chosen in `go.mod` alone. */
export const CLI_VERSION = required('github.com/temporalio/cli');

/** Version of the Temporal server inside that CLI. */
export const SERVER_VERSION = required('go.temporal.io/server');

/** Oldest Go that builds it. */
export const GO_VERSION = /^go (\S+)$/m.exec(goMod)?.[1] ?? '';

/**
 * Returns true when the output of `temporal --version` names the pinned version or a later one. A build without a
 * release's stamp calls itself 0.0.0-DEV: then its server's version decides.
 */
export function isPinnedOrLater(output: string): boolean {
  const match = /(?:^|\s)(\d+\.\d+\.\d+\S*) \(Server (\d+\.\d+\.\d+[^,\s)]*)/.exec(output);
  const [, cli, server] = match ?? [];
  if (cli === undefined || server === undefined) return false;
  return cli === '0.0.0-DEV'
    ? compareVersions(server, SERVER_VERSION) >= 0
    : compareVersions(cli, CLI_VERSION) >= 0;
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
