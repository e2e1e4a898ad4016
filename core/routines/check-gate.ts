import { fixedCallFault } from '#core/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { invalid, type Fault } from '#lib/errors.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { Gate } from './gate.ts';

/** @throws {AppError} `invalid_gate` when it may not be asked */
export async function checkGate(...asked: Parameters<typeof gateFault>): Promise<void> {
  const fault = await gateFault(...asked);
  if (fault !== undefined) throw invalid([fault], 'invalid_gate');
}

/**
 * Finds why a gate may not be asked: it asks a public address, or a confirmed tool of this routine that only reads and
 * takes the arguments. What has become of them since is looked at again in each run.
 */
export async function gateFault(
  db: Db,
  { outbound }: { readonly outbound: Pick<OutboundClient, 'checkUrl'> },
  routine: { readonly projectId: string; readonly routineId: string },
  gate: Gate | null,
): Promise<Fault | undefined> {
  if (gate === null) return undefined;
  if (gate.url !== null) return urlFault(outbound, gate.url);
  if (gate.tool === null) return undefined;
  const fault = await fixedCallFault(db, routine, gate.tool);
  return fault && { ...fault, path: `gate.tool.${fault.path}` };
}

function urlFault(outbound: Pick<OutboundClient, 'checkUrl'>, url: string): Fault | undefined {
  try {
    outbound.checkUrl(url);
    return undefined;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { path: 'gate.url', message: error.message };
  }
}
