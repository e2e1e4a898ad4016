import { fixedCallFault } from '#core/tools/index.ts';
import type { Db } from '#lib/database/index.ts';
import { invalid } from '#lib/errors.ts';
import { OutboundError, type OutboundClient } from '#lib/outbound/index.ts';
import type { Gate } from './gate.ts';

/**
 * Checks that a gate may be asked: a public address, or a confirmed tool of this routine that only reads and takes the
 * arguments. What has become of them since is looked at again in each run.
 * @throws {AppError} `invalid_gate`
 */
export async function checkGate(
  db: Db,
  { outbound }: { readonly outbound: Pick<OutboundClient, 'checkUrl'> },
  routine: { readonly projectId: string; readonly routineId: string },
  gate: Gate | null,
): Promise<void> {
  if (gate === null) return;
  if (gate.url !== null) checkUrl(outbound, gate.url);
  if (gate.tool === null) return;
  const fault = await fixedCallFault(db, routine, gate.tool);
  if (fault === undefined) return;
  throw invalid([{ ...fault, path: `gate.tool.${fault.path}` }], 'invalid_gate');
}

function checkUrl(outbound: Pick<OutboundClient, 'checkUrl'>, url: string): void {
  try {
    outbound.checkUrl(url);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    throw invalid([{ path: 'gate.url', message: error.message }], 'invalid_gate');
  }
}
