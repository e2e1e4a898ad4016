import { MAX_CARRIED_LENGTH } from '#core/authoring/definition/index.ts';
import { redact } from '#core/integrations/tools/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import { cut } from '#lib/text.ts';
import { ACTION_REASONS, ACTION_STATES, type Action } from './action.ts';

/** An ended action as the prompt of later runs shows it. */
export interface ToldAction extends Pick<
  Action,
  'toolName' | 'connectionName' | 'state' | 'reason' | 'note' | 'arguments' | 'result' | 'errorMessage'
> {
  readonly isChanged: boolean;
  readonly finishedAt: string;
}

/** Number of the latest actions in the prompt of a run. */
const MOST_ACTIONS = 50;

export function asksForActions(instructions: Sql): Sql {
  return sql`${instructions} ~ '[{][{][[:space:]]*actions[[:space:]]*[}][}]'`;
}

/**
 * Selects the actions of a routine that ended since its last successful run began, as one JSON value; null if there are
 * none. A replaced action appears as its replacement.
 */
export function toldActionsJson(run: { readonly projectId: Sql; readonly routineId: Sql }): Sql {
  return sql`(
    select json_agg(told order by told.id) from (
      select a.id, a.tool_name as "toolName", a.connection_name as "connectionName", a.state, a.reason, a.note,
        a.arguments, a.replaces is not null as "isChanged", left(a.result, 4000) as result,
        a.error_message as "errorMessage", a.finished_at as "finishedAt"
      from actions a
      where a.routine_id = ${run.routineId} and a.project_id = ${run.projectId} and a.state <> 'replaced'
        and a.finished_at > coalesce((select p.started_at from runs p
          where p.routine_id = ${run.routineId} and p.project_id = ${run.projectId} and p.state = 'succeeded'
            and p.trigger not in ('backfill', 'follow_up')
          order by p.routine_id, p.id desc limit 1), '-infinity')
      order by a.id desc limit ${MOST_ACTIONS}
    ) told)`;
}

/** The most characters of an action's arguments, and of its answer, in a prompt. */
const SHOWN_LENGTH = 1_000;

/** Writes the results of actions as text. The text is data for the model, not an instruction. */
export function actionsInWords(told: readonly ToldAction[]): string {
  return cut(told.map(inWords).join('\n\n'), MAX_CARRIED_LENGTH);
}

function inWords(action: ToldAction): string {
  const { toolName, connectionName, state, reason, note, arguments: args, isChanged, result, errorMessage } = action;
  const why = reason === null ? '' : `, because ${ACTION_REASONS[reason]}`;
  const lines = [
    `${toolName} of ${connectionName}: ${ACTION_STATES[state]}${why} (${action.finishedAt}).`,
    ...(args === null
      ? []
      : [
          `${isChanged ? 'Changed by a person to' : 'Called with'} ${cut(redact(JSON.stringify(args), []), SHOWN_LENGTH)}`,
        ]),
    ...(note === null ? [] : [`The person wrote: ${note}`]),
    ...(errorMessage === null ? [] : [errorMessage]),
    ...(result === null ? [] : [`The tool answered: ${cut(result, SHOWN_LENGTH)}`]),
  ];
  return lines.join('\n');
}
