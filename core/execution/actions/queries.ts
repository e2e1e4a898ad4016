import { join, ownedBy, sql, type Db } from '#lib/database/index.ts';
import { canonicalJson, isJsonObject, memberPointer, type JsonObject } from '#lib/json.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { actionColumns, type Action, type ActionState } from './action.ts';

export interface ActionFilter {
  readonly state?: ActionState | undefined;
  readonly routineId?: string | undefined;
  readonly runId?: string | undefined;
}

export function listActions(db: Db, projectId: string, filter: ActionFilter, page: Page): Promise<Action[]> {
  const { state, routineId, runId } = filter;
  const conditions = [
    ...(routineId === undefined
      ? [ownedBy(sql`project_id`, projectId)]
      : [sql`project_id = ${projectId}`, ownedBy(sql`routine_id`, routineId)]),
    // Use a literal, so that Postgres reads the few open actions from their own index.
    ...(state === undefined ? [] : [state === 'open' ? sql`state = 'open'` : sql`state = ${state}`]),
    ...(runId === undefined ? [] : [sql`(run_id = ${runId} or last_run_id = ${runId})`]),
  ];
  return db.plannedRows<Action>`
    select ${actionColumns} from actions
    where ${join(conditions, ' and ')} ${afterCursor(page)}
    order by ${routineId === undefined ? sql`project_id` : sql`routine_id`}, id desc limit ${page.limit + 1}
  `;
}

/** @throws {AppError} `action_not_found` */
export function readAction(db: Db, projectId: string, id: string): Promise<Action> {
  return db.rowOr<Action>('action_not_found')`
    select ${actionColumns} from actions where id = ${id} and project_id = ${projectId}
  `;
}

/** An action with everything that a person needs for a decision. */
export interface ActionDetail extends Action {
  /** The schema of the arguments; null if the tool is gone. */
  readonly inputSchema: JsonObject | null;
  /** Arguments of the last approved call of the same tool; null without such a call. */
  readonly lastApproved: { readonly id: string; readonly arguments: JsonObject; readonly decidedAt: Date } | null;
  /** Changes by a person to the arguments of the replaced action. */
  readonly changes: readonly ChangedArgument[];
}

/** @throws {AppError} `action_not_found` */
export async function readActionDetail(db: Db, projectId: string, id: string): Promise<ActionDetail> {
  const found = await db.rowOr<FoundDetail>('action_not_found')`
    select ${actionColumns}, (select p.input_schema from tool_policies p where p.id = actions.policy_id
      and p.project_id = actions.project_id) as "inputSchema", (
      select jsonb_build_object('id', o.id, 'arguments', o.arguments, 'decidedAt', o.decided_at) from actions o
      where o.routine_id = actions.routine_id and o.project_id = actions.project_id and o.policy_id = actions.policy_id
        and o.id < actions.id and o.arguments is not null and o.state in ('approved', 'sending', 'done', 'failed')
        and o.decided_by is not null and o.reason is null
      order by o.id desc limit 1) as "lastApproved",
      (select o.arguments from actions o where o.id = actions.replaces and o.project_id = actions.project_id)
      as "replacedArguments"
    from actions where id = ${id} and project_id = ${projectId}
  `;
  const { replacedArguments, lastApproved, ...action } = found;
  const changes = replacedArguments === null ? [] : differencesOf(replacedArguments, action.arguments ?? {});
  return {
    ...action,
    changes,
    lastApproved: lastApproved && { ...lastApproved, decidedAt: new Date(lastApproved.decidedAt) },
  };
}

interface FoundDetail extends Omit<ActionDetail, 'changes' | 'lastApproved'> {
  readonly replacedArguments: JsonObject | null;
  readonly lastApproved: { readonly id: string; readonly arguments: JsonObject; readonly decidedAt: string } | null;
}

/** Reads the actions that an action refers to, or their replacements. Deleted actions are left out. */
export function findReferred(
  db: Db,
  { projectId, refersTo }: Pick<Action, 'projectId' | 'refersTo'>,
): Promise<{ id: string; state: ActionState; structured: unknown }[]> {
  return db.rows`
    select a.id, coalesce(n.state, a.state) as state, coalesce(n.structured, a.structured) as structured from actions a
    left join actions n on n.id = a.replaced_by and n.project_id = a.project_id
    where a.project_id = ${projectId} and a.id = any(${refersTo})
  `;
}

/**
 * A value that differs between the arguments of two calls; `before` or `after` is missing if the value was added or
 * removed.
 */
interface ChangedArgument {
  /** Place of the value as a JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

function differencesOf(before: unknown, after: unknown, path = ''): ChangedArgument[] {
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  const [one, other] = [membersOf(before), membersOf(after)];
  if (one === undefined || other === undefined || Array.isArray(before) !== Array.isArray(after)) {
    return canonicalJson(before) === canonicalJson(after) ? [] : [{ path, before, after }];
  }
  if (Array.isArray(before) && one.size !== other.size) return [{ path, before, after }];
  return [...new Set([...one.keys(), ...other.keys()])].flatMap((name) =>
    differencesOf(one.get(name), other.get(name), memberPointer(path, name)),
  );
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return Array.isArray(value) || isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}
