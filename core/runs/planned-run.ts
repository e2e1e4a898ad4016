import type { ProvenRoutine } from '#core/routines/index.ts';
import { offeredTools, offeredToolsJson, type OfferedToolJson } from '#core/tools/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import type { PreflightRun } from './preflight.ts';
import { previousRunJson, previousRunOf, type PreviousRunJson } from './previous-run.ts';
import { asksForData, previousDataJson, type PreviousData } from './result/previous-data.ts';

/**
 * Reads what the first step of a manual run would read, for a run that is never created.
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that the routine does not have
 */
export async function plannedRun(
  db: Db,
  routine: ProvenRoutine,
  variables: Readonly<Record<string, string>>,
): Promise<{ run: PreflightRun; budgets: Budgets }> {
  assertKnown(routine, variables);
  const keys = { projectId: sql`r.project_id`, routineId: sql`r.id` };
  const found = await row<{
    now: Date;
    tools: readonly OfferedToolJson[];
    previous: PreviousRunJson | null;
    previousData: PreviousData | null;
    budgets: Budgets;
  }>(
    db,
    sql`
      select now() as now, ${offeredToolsJson({ ...keys, startedAt: sql`now()` })} as tools,
        case when r.carry_result or position('previous.' in r.instructions) > 0 then ${previousRunJson(keys)} end
          as previous,
        case when ${asksForData(sql`r.instructions`)} then ${previousDataJson(keys)} end as "previousData",
        jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
          'organization', ${budgetColumns('o')}) as budgets
      from routines r join projects p on p.id = r.project_id join organizations o on o.id = p.organization_id
      where r.id = ${routine.id} and r.project_id = ${routine.projectId}
    `,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  const { maxSteps, timeoutSeconds, maxTotalTokens, maxOutputTokens } = routine.limits;
  const run: PreflightRun = {
    id: newId('run'),
    projectId: routine.projectId,
    routineName: routine.name,
    routineState: routine.state,
    trigger: 'manual',
    scheduledFor: null,
    runAt: null,
    retryOf: null,
    instructions: routine.instructions,
    variables: { ...routine.variables, ...variables },
    skills: routine.skills,
    activeSkills: null,
    timezone: routine.timezone,
    model: routine.model,
    maxSteps,
    timeoutSeconds,
    maxTotalTokens,
    maxOutputTokens,
    prompt: null,
    briefing: null,
    carryResult: routine.carryResult,
    gate: routine.gate,
    outcomeRule: routine.outcome,
    previous: found.previous === null ? undefined : previousRunOf(found.previous),
    previousData: found.previousData,
    resultForm:
      routine.resultSchema === null
        ? null
        : { schema: routine.resultSchema, key: routine.resultKey },
    modelSteps: 0,
    startedAt: found.now,
    tools: offeredTools(found.tools, routine),
  };
  return { run, budgets: found.budgets };
}

/** Throws for a value of a variable that the routine does not have. */
function assertKnown(
  routine: Pick<ProvenRoutine, 'variables'>,
  variables: Readonly<Record<string, string>>,
): void {
  const unknown = Object.keys(variables).filter((name) => !Object.hasOwn(routine.variables, name));
  if (unknown.length === 0) return;
  const faults = unknown.map((name) => ({
    path: `variables.${name}`,
    message: 'the routine has no such variable',
  }));
  throw invalid(faults, 'invalid_variable');
}
