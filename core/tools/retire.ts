import { SYSTEM } from '#core/audit/index.ts';
import type { ToolDefinition } from '#core/mcp/index.ts';
import { execute, sql, transaction } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { PolicyDeps } from './change-policy.ts';
import type { ToolPolicy } from './policy.ts';
import { writeDiscovered } from './write-discovered.ts';

/**
 * Disables the policy of a tool that is not, or no longer, what was confirmed, as a run has found; the live definition
 * then stands beside the confirmed hash, and the routine goes back to draft.
 */
export async function retirePolicy(
  { database, routineEditor }: PolicyDeps,
  policy: Pick<ToolPolicy, 'projectId' | 'routineId' | 'connectionId' | 'toolName'> & {
    id: string;
  },
  live: ToolDefinition | undefined,
): Promise<void> {
  const { projectId, routineId, toolName } = policy;
  await transaction(database, async (tx) => {
    try {
      await routineEditor.hold(tx, projectId, routineId);
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
    const reason = retirement([toolName]);
    await routineEditor.returnToDraft(tx, {
      projectId,
      routineIds: [routineId],
      reason,
      by: SYSTEM,
    });
  });
}

/** Says why a routine went back to draft, with the names that a person knows the tools by. */
export function retirement(toolNames: readonly string[]): string {
  const shown = toolNames.slice(0, 3).join(', ');
  const more = toolNames.length > 3 ? ` and ${toolNames.length - 3} more` : '';
  return `the server changed or removed a tool that was automatic (${shown}${more}); look at it and confirm it again`;
}
