import { isAbsolute, join } from 'node:path';

import envPaths from 'env-paths';

const NAME = 'routine-automation-service';

/**
 * Returns the user's cache folder for this project, shared by all clones: XDG_CACHE_HOME or ~/.cache on Linux, the
 * platform's own place elsewhere. The XDG specification says to ignore a relative path.
 */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  const xdg = env['XDG_CACHE_HOME'];
  if (process.platform === 'linux' && xdg !== undefined && isAbsolute(xdg)) return join(xdg, NAME);
  if (process.platform === 'linux' && env['HOME']) return join(env['HOME'], '.cache', NAME);
  return envPaths(NAME, { suffix: '' }).cache;
}
