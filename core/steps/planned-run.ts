import type { ProvenRoutine } from '#core/routines/index.ts';
import { offeredTools, offeredToolsJson, type OfferedToolJson } from '#core/tools/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { assertMayBeGiven, type ManualRun } from '#core/runs/index.ts';
import type { PreflightRun } from './preflight.ts';
import {
  previousRunJson,
  previousRunOf,
  type PreviousRunJson,
  asksForData,
  previousDataJson,
  type PreviousData,
} from '#core/prompt/index.ts';

/**
 * Reads what the first step of a manual run would read, for a run that is never created.
 * @throws {AppError} `routine_not_found`, `invalid_variable` for a variable that cannot be given
 */
export async function plannedRun(
  db: Db,
  routine: ProvenRoutine,
  { variables, valuesFenced }: Pick<ManualRun, 'variables' | 'valuesFenced'>,
): Promise<{ run: PreflightRun; budgets: Budgets }> {
  const names = Object.keys(variables);
  const other = names.filter((name) => variables[name] !== routine.variables[name]);
  assertMayBeGiven({
    unknown: names.filter((name) => !Object.hasOwn(routine.variables, name)),
    closed: other.filter((name) => routine.overridable?.includes(name) === false),
  });
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
    fencedVariables: valuesFenced ? other : [],
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
