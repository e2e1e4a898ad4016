import { spawnSync } from 'node:child_process';

const probe = spawnSync(
  'bwrap',
  ['--unshare-all', '--unshare-user', '--disable-userns', '--ro-bind', '/', '/', 'true'],
  { encoding: 'utf8' },
);

/** True if this machine can make the sandbox. `.ci/run` fails if it cannot. */
export const HAS_BUBBLEWRAP = probe.status === 0;

/** Ends the names of tests that are skipped without the sandbox. */
export const WHY_SKIPPED = HAS_BUBBLEWRAP ? '' : ' (skipped: bubblewrap cannot make a sandbox here)';
