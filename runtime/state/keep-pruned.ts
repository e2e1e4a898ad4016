import type { Log } from '#lib/log.ts';
import type { Journal } from './journal.ts';

const EVERY_MS = 60_000;

/**
 * Prunes the journal now and every minute. On a full disk that fails, and the runtime goes on without: it says so to
 * each call that it cannot begin.
 * @returns ends it
 */
export function keepPruned(
  journal: Pick<Journal, 'prune'>,
  log: Pick<Log, 'error'>,
  everyMs = EVERY_MS,
): () => void {
  const prune = () => {
    try {
      journal.prune();
    } catch (err) {
      log.error({ err }, 'old calls were not deleted');
    }
  };
  prune();
  const timer = setInterval(prune, everyMs);
  return () => clearInterval(timer);
}
