import { recordProjectAudit, type Actor } from '#core/audit/index.ts';
import type { Db } from '#lib/database/index.ts';
import type { Routine } from './routine.ts';

/** Records that a material change has taken an active routine off its schedule, in the transaction of the change. */
export function recordDeactivation(
  tx: Db,
  by: Actor,
  { id, projectId, revision }: Pick<Routine, 'id' | 'projectId' | 'revision'>,
): Promise<void> {
  const entry = { by, projectId, targetId: id, details: { revision } };
  return recordProjectAudit(tx, { ...entry, action: 'routine.deactivated' });
}
