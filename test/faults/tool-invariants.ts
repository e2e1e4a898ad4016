import { kindOf } from './ledger.ts';
import type { Evidence } from './load.ts';
import { callsByRun } from './tools.ts';

/**
 * Returns a sentence for each violation: a call that may have taken effect and was repeated, a call that is not stored,
 * or a run that succeeded without the call that its model asked for.
 */
export async function toolCalls({ database, ledger, tools }: Evidence): Promise<string[]> {
  const found = await database.rows<{
    runId: string;
    routineId: string;
    runState: string;
    state: string | null;
    attempt: number | null;
    errorMessage: string | null;
  }>`
    select runs.id as "runId", routine_id as "routineId", runs.state as "runState", steps.state, attempt,
      steps.error_message as "errorMessage"
    from runs left join steps on steps.run_id = runs.id and kind = 'tool'
  `;
  const faults: string[] = [];
  const calls = callsByRun(tools);
  const known = new Set(found.map(({ runId }) => runId));
  for (const { runId, routineId, runState, state, attempt, errorMessage } of found) {
    const { tool } = kindOf(ledger, routineId);
    const made = calls.get(runId) ?? 0;
    const allowed = tool === undefined ? 0 : tool.repeatable ? (attempt ?? 0) : 1;
    if (made > allowed) {
      faults.push(`run ${runId} called its tool ${made} times, ${allowed} would be right`);
    }
    if (made > 0 && !['started', 'succeeded', 'outcome_unknown'].includes(state ?? '')) {
      faults.push(`run ${runId} called its tool, and the call is ${state ?? 'not on record'}`);
    }
    if (made === 0 && tool !== undefined && state === 'succeeded') {
      faults.push(`the call of run ${runId} succeeded and never arrived`);
    }
    const ends = tool?.repeatable === false ? ['succeeded', 'outcome_unknown'] : ['succeeded'];
    if (tool !== undefined && runState === 'succeeded' && !ends.includes(state ?? '')) {
      faults.push(`run ${runId} succeeded with its call ${state ?? 'not on record'}: ${errorMessage}`);
    }
  }
  for (const runId of calls.keys()) {
    if (!known.has(runId)) faults.push(`run ${runId} called a tool and is not on record`);
  }
  return faults;
}
