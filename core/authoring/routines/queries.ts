import DataLoader from 'dataloader';
import { authorJson } from '#core/foundation/audit/index.ts';
import { chosenContentDays } from '#core/accounts/settings/index.ts';
import {
  callableTools,
  callableToolsJson,
  routinesUsing,
  type HintedTool,
  type CallableToolJson,
} from '#core/integrations/tools/index.ts';
import { ownedBy, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import {
  type Definition,
  definitionForm,
  settingsForm,
  shortDefinition,
  shortForm,
} from '#core/authoring/definition/index.ts';
import { hasSucceeded, proofRunId } from './proof.ts';
import { proposalJson, proposalOf, type Proposal, type ProposalJson } from './proposals.ts';
import type { Routine, RoutineState, RoutineSummary } from './routine.ts';
import { oncePerObject } from '#lib/coalesce.ts';

const ownColumns = sql`
  id, project_id as "projectId", ${settingsForm.columns}, state, state_reason as "stateReason", revision, version,
  external_key as "externalKey", managed_by as "managedBy", managed_from as "managedFrom", drifted_at as "driftedAt",
  ${authorJson({ createdBy: sql`routines.drifted_by`, projectId: sql`routines.project_id` })} as "driftedBy",
  webhook_failed_at as "webhookFailedAt", next_run_at as "nextRunAt", not_before as "notBefore",
  last_run_at as "lastRunAt",
  created_at as "createdAt", updated_at as "updatedAt", archived_at as "archivedAt"
`;

/** A routine with everything that a single read returns. */
export interface ProvenRoutine extends Routine {
  /** Id of the latest manual run that has succeeded with the present version. The run may have been deleted since. */
  readonly proofRunId: string | null;
  /** True when a manual run has succeeded with the present version and any variables; null if active or archived. */
  readonly hasSucceeded: boolean | null;
  /** The latest proposal of a change; null for none. */
  readonly proposal: Proposal | null;
  /** Days for which the project chose to keep the content of runs; null for the operator's days. */
  readonly chosenContentDays: number | null;
  /** The tools that a run would get if it began now. */
  readonly callableTools: readonly HintedTool[];
}

/** The columns that `routineOf` reads. */
export const columns = sql`${ownColumns}, definition`;

export type RoutineRow = Omit<Routine, keyof Definition | 'blocked'> & { readonly definition: unknown };

/** Makes a routine from its row. */
export function routineOf<R extends RoutineRow>({
  definition,
  ...row
}: R): Omit<R, 'definition'> & Definition & Pick<Routine, 'blocked'> {
  const { value, blocked } = definitionForm.read(definition);
  return { ...row, ...value, blocked };
}

/** Reads one routine. @throws {AppError} `routine_not_found` */
export async function readRoutine(db: Db, projectId: string, id: string): Promise<ProvenRoutine> {
  const found = await loaderOf(db).load({ projectId, id });
  if (found === undefined) throw new AppError('routine_not_found');
  return found;
}

interface RoutineKey {
  readonly projectId: string;
  readonly id: string;
}

/** Joins the reads of one turn of the event loop into one statement. A read never gets a state older than its call. */
const loaderOf = oncePerObject(
  (db: Db) => new DataLoader<RoutineKey, ProvenRoutine | undefined>((keys) => readRoutines(db, keys), { cache: false }),
);

/** Reads routines in the order of the keys; undefined for a key without a routine. */
async function readRoutines(db: Db, keys: readonly RoutineKey[]): Promise<(ProvenRoutine | undefined)[]> {
  const ids = keys.map(({ id }) => id);
  const projectIds = keys.map(({ projectId }) => projectId);
  const found = await db.rows<
    RoutineRow &
      Pick<ProvenRoutine, 'proofRunId' | 'hasSucceeded' | 'chosenContentDays'> & {
        tools: readonly CallableToolJson[];
        proposal: ProposalJson | null;
      }
  >`
    select ${columns}, ${proofRunId} as "proofRunId", ${hasSucceeded} as "hasSucceeded", ${proposalJson} as proposal,
      ${chosenContentDays(sql`routines.project_id`)} as "chosenContentDays",
      ${callableToolsJson({ projectId: sql`routines.project_id`, routineId: sql`routines.id` })} as tools
    from routines
    where (id, project_id) in (select * from unnest(${ids}::text[], ${projectIds}::text[]))
  `;
  const routines = found.map(({ tools, proposal, ...rest }) => {
    const routine = routineOf(rest);
    const latest = proposal && proposalOf(proposal);
    return { ...routine, proposal: latest, callableTools: callableTools(tools, routine) };
  });
  const byId = new Map(routines.map((routine) => [routine.id, routine]));
  return keys.map(({ id, projectId }) => {
    const routine = byId.get(id);
    return routine?.projectId === projectId ? routine : undefined;
  });
}

/** Reads and locks a routine; runs of the routine can still be inserted. @throws {AppError} `routine_not_found` */
export async function lockRoutine(tx: Db, projectId: string, id: string): Promise<Routine> {
  const found = await tx.rowOr<RoutineRow>('routine_not_found')`
    select ${columns} from routines where id = ${id} and project_id = ${projectId} for no key update
  `;
  return routineOf(found);
}

/** Finds the routine with an external key, unless the routine is archived. */
export async function findRoutineByKey(
  db: Db,
  projectId: string,
  externalKey: string,
): Promise<ProvenRoutine | undefined> {
  const found = await db.row<{ id: string }>`
    select id from routines
    where project_id = ${projectId} and external_key = ${externalKey} and state <> 'archived'
  `;
  return found && loaderOf(db).load({ projectId, id: found.id });
}

/** Finds the routines that have one of these names as id, key or name. Archived routines have lost their key. */
export function findNamedRoutines(db: Db, projectId: string, names: readonly string[]) {
  return db.rows<{ id: string; name: string; externalKey: string | null; isLive: boolean }>`
    select id, name, case when state <> 'archived' then external_key end as "externalKey",
      state <> 'archived' as "isLive"
    from routines
    where project_id = ${projectId}
      and (id = any(${names}) or external_key = any(${names}) or name = any(${names}))
    order by id desc limit 200
  `;
}

/** Locks the routines that may call a tool of the connection, in the order of their ids. @returns the ids */
export async function lockUsersOfConnection(tx: Db, projectId: string, connectionId: string): Promise<string[]> {
  const users = await tx.rows<{ id: string }>`
    select id from routines where project_id = ${projectId} and id in (${routinesUsing(connectionId)})
    order by id for no key update
  `;
  return users.map(({ id }) => id);
}

export interface RoutineFilter {
  /** A part of the name; upper or lower case does not matter. */
  readonly q: string | undefined;
  readonly state: RoutineState | undefined;
  readonly stateChangedBy: 'service' | 'person' | undefined;
  /** Id of a skill, account or connection; or the slug of a skill, with its earlier slugs. */
  readonly uses: readonly [string, ...string[]] | undefined;
  readonly sendsResults: boolean | undefined;
  /** Finds only the routine with this key. Archived routines have lost their keys, so they are never found. */
  readonly externalKey: string | undefined;
  readonly managedBy: Routine['managedBy'] | undefined;
  readonly page: Page;
}

/** Lists routines, newest first. A filter reads at most all routines of the project, whose number is bounded. */
export async function listRoutines(db: Db, projectId: string, filter: RoutineFilter): Promise<RoutineSummary[]> {
  const { q = null, state = null, stateChangedBy = null, uses: named = null, page } = filter;
  const { sendsResults = null, externalKey = null, managedBy = null } = filter;
  const uses = named?.[0] ?? null;
  const found = await db.rows<RoutineRow>`
    select ${ownColumns}, ${shortDefinition} as definition from routines
    where ${ownedBy(sql`project_id`, projectId)} and (${state}::text is null or state = ${state})
      and (${q}::text is null or position(lower(${q}) in lower(name)) > 0)
      and (${stateChangedBy}::text is null or (state_reason is not null) = (${stateChangedBy} = 'service'))
      and (${sendsResults}::boolean is null
        or (webhook_url is not null or success_ping_url is not null or results_mail is not null
          or results_chats <> '[]') = ${sendsResults})
      and (${uses}::text is null or skills ?| ${named}::text[] or model_connection_id = ${uses}
        or id in (${routinesUsing(uses)}))
      and (${externalKey}::text is null or (external_key = ${externalKey} and state <> 'archived'))
      and (${managedBy}::text is null or managed_by = ${managedBy})
      ${afterCursor(page)}
    order by project_id, id desc limit ${page.limit + 1}
  `;
  return found.map(({ definition, ...routine }) => {
    const { value, blocked } = shortForm.read(definition);
    return { ...routine, ...value, blocked };
  });
}
