import type { Ras } from 'routine-automation-sdk';
import { fieldsOf } from '../failure.ts';

/** An id that does not exist, so that a write with it is refused either for its scope or for its id. */
const NOTHING = 'none';

/** For each scope, a call that changes nothing. */
const PROBES: Readonly<Record<string, (ras: Ras) => PromiseLike<unknown>>> = {
  'models:read': (ras) => ras.models.list(),
  'routines:read': (ras) => ras.routines.list({ limit: 1 }).page(),
  'routines:write': (ras) => ras.routines.archive(NOTHING),
  'runs:read': (ras) => ras.runs.list({ limit: 1 }).page(),
  'runs:write': (ras) => ras.runs.cancel(NOTHING),
  'connections:read': (ras) => ras.connections.list({ limit: 1 }).page(),
  'connections:write': (ras) => ras.connections.delete(NOTHING),
  'actions:write': (ras) => ras.actions.reject(NOTHING),
};

/**
 * Finds the scopes of a key by trying them, because the service does not list them for a key.
 * @throws {AuthenticationError}
 */
export async function scopesOf(ras: Ras): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(PROBES).map(async ([scope, probe]) => {
      const lacksIt = await probe(ras).then(
        () => false,
        (error: unknown) => {
          const { status, code } = fieldsOf(error);
          // Only an error about the request itself proves that the key has the scope.
          if (status !== 402 && status !== 403 && status !== 404) throw error;
          return code === 'insufficient_scope';
        },
      );
      return lacksIt ? [] : [scope];
    }),
  );
  return found.flat();
}

/** Reads the project of a key. A service of version 0.1.0 returns none. */
export async function projectOf(ras: Ras): Promise<{ readonly projectId?: string; readonly projectName?: string }> {
  try {
    const { id, name } = await ras.project.read();
    return { projectId: id, projectName: name };
  } catch (error) {
    if (fieldsOf(error)['status'] !== 404) throw error;
    return {};
  }
}
