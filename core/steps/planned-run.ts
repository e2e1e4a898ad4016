import { definitionForm, type ProvenRoutine } from '#core/routines/index.ts';
import { offeredTools, offeredToolsJson, type OfferedToolJson } from '#core/tools/index.ts';
import { budgetColumns, type Budgets } from '#core/usage/index.ts';
import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { newId } from '#lib/ids.ts';
import { assertMayBeGiven, type ManualRun } from '#core/runs/index.ts';
import { definedRun, type PreparedRun } from './begin-step.ts';
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
): Promise<{ run: PreparedRun; budgets: Budgets }> {
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
        case when ${routine.carryResult || routine.instructions.includes('previous.')}::boolean then ${previousRunJson(keys)} end
          as previous,
        case when ${asksForData(sql`${routine.instructions}::text`)} then ${previousDataJson(keys)} end as "previousData",
        jsonb_build_object('routine', ${budgetColumns('r')}, 'project', ${budgetColumns('p')},
          'organization', ${budgetColumns('o')}) as budgets
      from routines r join projects p on p.id = r.project_id join organizations o on o.id = p.organization_id
      where r.id = ${routine.id} and r.project_id = ${routine.projectId}
    `,
  );
  if (found === undefined) throw new AppError('routine_not_found');
  const { maxSteps, timeoutSeconds, maxTotalTokens } = routine.limits;
  const run: PreparedRun = {
    id: newId('run'),
    projectId: routine.projectId,
    routineName: routine.name,
    routineState: routine.state,
    trigger: 'manual',
    scheduledFor: null,
    runAt: null,
    retryOf: null,
    ...definedRun(
      { value: definitionForm.pick(routine), blocked: routine.blocked },
      variables,
      valuesFenced,
    ),
    activeSkills: null,
    timezone: routine.timezone,
    maxSteps,
    timeoutSeconds,
    maxTotalTokens,
    prompt: null,
    briefing: null,
    previous: found.previous === null ? undefined : previousRunOf(found.previous),
    previousData: found.previousData,
    modelSteps: 0,
    startedAt: found.now,
    tools: offeredTools(found.tools, routine),
  };
  return { run, budgets: found.budgets };
}
