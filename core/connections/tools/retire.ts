import { execute, sql, transaction, type Database } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { holdRoutine, returnToDraft } from '../routines.ts';
import { definitionHash, type ToolDefinition } from './definition.ts';
import { retirement } from './discover.ts';
import type { ToolPolicy } from './policy.ts';
import { writeDiscovered } from './write-discovered.ts';

/**
 * A run found that the tool is not, or no longer, what was confirmed: its policy falls back to disabled, with what the
 * server says now beside what was confirmed, and the routine to draft.
 */
export async function retirePolicy(
  database: Database,
  policy: Pick<ToolPolicy, 'projectId' | 'routineId' | 'connectionId' | 'toolName'> & {
    id: string;
  },
  live: ToolDefinition | undefined,
): Promise<void> {
  const { projectId, routineId, toolName } = policy;
  await transaction(database, async (tx) => {
    try {
      await holdRoutine(tx, projectId, routineId);
    } catch (error) {
      if (error instanceof AppError) return;
      throw error;
    }
    const retired =
      live === undefined
        ? (await execute(
            tx,
            sql`
              update tool_policies set state = 'disabled', vanished_at = now(), updated_at = now()
              where id = ${policy.id} and project_id = ${projectId} and state = 'automatic'
            `,
          )) > 0
        : (await writeDiscovered(tx, policy, { tools: [live], complete: false })).retired.length >
          0;
    if (!retired) return;
    await returnToDraft(tx, { projectId, routineIds: [routineId], reason: retirement([toolName]) });
  });
}

/** Whether the live definition is the confirmed one. */
export function isConfirmed(
  policy: Pick<ToolPolicy, 'confirmedHash'>,
  live: ToolDefinition,
): boolean {
  return definitionHash(live) === policy.confirmedHash;
}
