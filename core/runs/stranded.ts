import { buildIsGone } from './admission/slots.ts';
import type { EndRunDeps } from './end-run.ts';

/**
 * Tells whether the workflow of a run stays on a build that has no worker any more, while another build takes new runs.
 * A run that has not begun may then begin on that one; one that has begun waits for workers of its own build.
 */
export async function isStranded(
  { database, engine, admission }: EndRunDeps,
  runId: string,
): Promise<boolean> {
  const buildId = await engine.buildOf(runId);
  if (buildId === undefined) return false;
  return buildIsGone(database, admission.rule.taskQueue, buildId);
}
