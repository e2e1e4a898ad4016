import {
  cancelAtRuntime,
  type IssuedCall,
  type ModelRuntime,
} from '#core/model-connections/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import { isStillWanted } from '../still-wanted.ts';

/**
 * Cancels a call at the runtime when its run is no longer wanted. A worker that stops, or has lost its step, leaves the
 * call running: the next worker asks for it under the same request id.
 */
export async function cancelUnlessWanted(
  { database, log }: { readonly database: Db; readonly log: Log },
  runtime: ModelRuntime,
  runId: string,
  call: IssuedCall,
): Promise<void> {
  const isWanted = await isStillWanted(database, runId).catch(() => true);
  if (!isWanted) await cancelAtRuntime(runtime, [call], log);
}
