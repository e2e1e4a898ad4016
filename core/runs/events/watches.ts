/** Followers of one process, by the run that each follows. */
export interface Watches {
  runIds(): string[];
  add(runId: string, signal: AbortSignal): Watch;
  /** Wakes the followers of a run that has changed. */
  changed(runId: string): void;
  /** Wakes the followers of a run whose version differs from the one that they have read. */
  found(runId: string, version: string): void;
  /** Ends every watch. */
  close(): void;
}

export interface Watch {
  /** Resolves with true when the run may have changed since the last call, with false when the watch has ended. */
  changed(): Promise<boolean>;
  /** Records the version that was read. */
  saw(version: string): void;
}

interface Follower {
  /** Version that this follower has read; others may have read another. */
  version: string | undefined;
  news: boolean;
  wake: () => void;
}

export function createWatches(): Watches {
  const runs = new Map<string, Set<Follower>>();
  let closed = false;

  function tell(runId: string, isNews: (follower: Follower) => boolean): void {
    for (const follower of runs.get(runId) ?? []) {
      if (!isNews(follower)) continue;
      follower.news = true;
      follower.wake();
    }
  }

  return {
    runIds: () => [...runs.keys()],
    add(runId, signal) {
      const followers = runs.get(runId) ?? new Set();
      // A new follower has read nothing yet.
      const follower: Follower = { version: undefined, news: true, wake: () => undefined };
      runs.set(runId, followers.add(follower));
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();

      function stop(): void {
        followers.delete(follower);
        if (followers.size === 0 && runs.get(runId) === followers) runs.delete(runId);
        follower.wake();
      }

      return {
        async changed() {
          const isOver = () => closed || signal.aborted;
          if (!follower.news && !isOver()) {
            await new Promise<void>((resolve) => {
              follower.wake = resolve;
            });
          }
          follower.news = false;
          return !isOver();
        },
        saw(version) {
          follower.version = version;
        },
      };
    },
    changed: (runId) => tell(runId, () => true),
    found: (runId, version) => tell(runId, (follower) => follower.version !== version),
    close() {
      closed = true;
      for (const followers of runs.values()) for (const follower of followers) follower.wake();
      runs.clear();
    },
  };
}
