import type { QueryClient } from '@tanstack/react-query';
import { aheadOf } from '#ui/api/read.ts';

/** Begins to read a run, and to load the formatter of its result, while the code of its page loads. */
export function readRunAhead(client: QueryClient, { projectId, runId }: RunPath): void {
  aheadOf(client, projectId).read('/v1/runs/{runId}', { path: { runId } });
  void loadFormatter().catch(() => undefined);
}

interface RunPath {
  readonly projectId: string;
  readonly runId: string;
}

async function loadFormatter(): Promise<void> {
  void import('#ui/parts/markdown.tsx').catch(() => undefined);
  const { prepareToRead } = await import('#ui/parts/read-document.ts');
  prepareToRead();
}
