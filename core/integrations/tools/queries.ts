import { connectionColumns, type Connection } from '#core/integrations/connections/index.ts';
import { sql, storableJson, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { PolicyState, ReadableSchemas, ToolPolicy } from './policy.ts';

/** Readable schemas of a policy; null once the definition has changed since they were read. */
export const readableNow = sql`case when readable->>'definitionHash' = definition_hash then readable end`;

/** The columns of a policy, under the names of `ToolPolicy`. */
const policyColumns = sql`
  id, project_id as "projectId", routine_id as "routineId", connection_id as "connectionId",
  tool_name as "toolName", title, description, input_schema as "inputSchema", output_schema as "outputSchema",
  annotations, definition_hash as "definitionHash", confirmed_hash as "confirmedHash", state,
  confirmed_definition as "confirmedDefinition", ${readableNow} as readable,
  vanished_at as "vanishedAt", confirmed_by as "confirmedBy", confirmed_at as "confirmedAt",
  max_calls_per_run as "maxCallsPerRun", argument_schema as "argumentSchema", created_at as "createdAt",
  updated_at as "updatedAt"
`;

export function listPolicies(
  db: Db,
  scope: { projectId: string; routineId: string },
  page: Page,
): Promise<ToolPolicy[]> {
  return db.rows<ToolPolicy>`
    select ${policyColumns} from tool_policies
    where project_id = ${scope.projectId} and routine_id = ${scope.routineId} ${afterCursor(page)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** A tool that a connection of the project offers, as its routines have found it. */
export interface ProjectTool {
  readonly connectionId: string;
  readonly connectionName: string;
  readonly toolName: string;
  readonly description: string | null;
}

/**
 * Lists the tools that the ready connections of a project offer, as far as its routines have found them; at most 100.
 */
export function toolsOfProject(db: Db, projectId: string): Promise<ProjectTool[]> {
  return db.rows<ProjectTool>`
    select distinct on (c.name, p.tool_name) p.connection_id as "connectionId", c.name as "connectionName",
      p.tool_name as "toolName", left(p.description, 300) as description
    from tool_policies p join connections c on c.id = p.connection_id
    where p.project_id = ${projectId} and c.project_id = ${projectId} and c.state = 'ready' and p.vanished_at is null
    order by c.name, p.tool_name limit 100
  `;
}

/** Selects the ids of the routines that may call a tool of the connection, as a subquery. */
export function routinesUsing(connectionId: string | null): Sql {
  return sql`select routine_id from tool_policies where connection_id = ${connectionId} and state <> 'disabled'`;
}

/**
 * Locks a routine until the end of the transaction, so that its policies change one at a time.
 * @throws {AppError} `routine_not_found`, `routine_archived`
 */
export async function holdRoutine(
  tx: Db,
  { projectId, routineId }: { projectId: string; routineId: string },
): Promise<void> {
  const found = await tx.rowOr<{ archived: boolean }>('routine_not_found')`
    select state = 'archived' as archived from routines where id = ${routineId} and project_id = ${projectId}
    for no key update
  `;
  if (found.archived) throw new AppError('routine_archived');
}

/** Lists the policies of one connection, in the order in which the server lists the tools. */
export function listPoliciesOfConnection(
  db: Db,
  scope: { projectId: string; routineId: string; connectionId: string },
): Promise<ToolPolicy[]> {
  return db.rows<ToolPolicy>`
    select ${policyColumns} from tool_policies
    where project_id = ${scope.projectId} and routine_id = ${scope.routineId}
      and connection_id = ${scope.connectionId}
    order by id
  `;
}

export function findPolicy(
  db: Db,
  scope: { projectId: string; routineId: string; policyId: string },
): Promise<ToolPolicy | undefined> {
  return db.row<ToolPolicy>`
    select ${policyColumns} from tool_policies
    where id = ${scope.policyId} and routine_id = ${scope.routineId} and project_id = ${scope.projectId}
  `;
}

/** @throws {AppError} `policy_not_found` */
export async function readPolicy(
  db: Db,
  scope: { projectId: string; routineId: string; policyId: string },
): Promise<ToolPolicy> {
  const found = await findPolicy(db, scope);
  if (found === undefined) throw new AppError('policy_not_found');
  return found;
}

/** Returns an SQL condition: the policy is still enabled and unchanged since it was read. */
export function policyUnchanged(policy: Pick<ToolPolicy, 'id' | 'projectId' | 'updatedAt'>): Sql {
  return sql`exists (
    select 1 from tool_policies p
    where p.id = ${policy.id} and p.project_id = ${policy.projectId} and p.updated_at = ${policy.updatedAt}
      and p.state <> 'disabled' and p.confirmed_hash = p.definition_hash
  )`;
}

export function countEnabled(db: Db, routineId: string): Promise<number> {
  return db.value<number>`
    select count(*) as count from tool_policies where routine_id = ${routineId} and state <> 'disabled'
  `;
}

/** The part of a policy that a person sets. */
export interface PolicyChange {
  readonly state: PolicyState;
  /** Person or key that confirms the present definition; undefined keeps the last confirmation. */
  readonly confirmedBy: string | undefined;
  readonly maxCallsPerRun: number | null;
  readonly argumentSchema: Readonly<Record<string, unknown>> | null;
}

/** @param readable schemas of a confirmation without their unreadable parts; null if all parts can be read */
export function updatePolicy(
  tx: Db,
  policy: Pick<ToolPolicy, 'id' | 'projectId' | 'definitionHash'>,
  change: PolicyChange,
  readable: ReadableSchemas | null,
): Promise<ToolPolicy> {
  const confirms = change.confirmedBy !== undefined;
  const { argumentSchema } = change;
  return tx.rowOr<ToolPolicy>('policy_not_found')`
    update tool_policies set
      state = ${change.state}, max_calls_per_run = ${change.maxCallsPerRun},
      argument_schema = ${argumentSchema === null ? null : storableJson(argumentSchema)},
      confirmed_hash = case when ${confirms}::boolean then definition_hash else confirmed_hash end,
      confirmed_definition = case when ${confirms}::boolean then jsonb_build_object('title', title,
        'description', description, 'inputSchema', input_schema, 'outputSchema', output_schema,
        'annotations', annotations) else confirmed_definition end,
      readable = case when ${confirms}::boolean
        then ${readable === null ? null : storableJson({ ...readable, definitionHash: policy.definitionHash })}::jsonb
        else readable end,
      confirmed_by = case when ${confirms}::boolean then ${change.confirmedBy ?? null} else confirmed_by end,
      confirmed_at = case when ${confirms}::boolean then now() else confirmed_at end,
      updated_at = now()
    where id = ${policy.id} and project_id = ${policy.projectId}
    returning ${policyColumns}
  `;
}

/** A tool that a version of a routine lets its runs call, as confirmed at that time. */
export interface VersionTool {
  readonly connectionId: string;
  readonly name: string;
  readonly definitionHash: string | null;
  readonly maxCallsPerRun: number | null;
  /** SHA-256 of the argument schema, in place of the schema, which may be long; null if there is no schema. */
  readonly argumentSchemaHash: string | null;
  /** True for a tool whose calls wait for a person; absent for an automatic tool. */
  readonly held?: boolean;
}

/** Selects the enabled tools of a routine as one JSON value, in the form of `VersionTool`. */
export function enabledToolsJson(routine: { id: Sql; projectId: Sql }): Sql {
  return sql`(
    select coalesce(jsonb_agg(jsonb_build_object('connectionId', p.connection_id, 'name', p.tool_name,
      'definitionHash', p.confirmed_hash, 'maxCallsPerRun', p.max_calls_per_run, 'argumentSchemaHash',
      encode(sha256(convert_to(p.argument_schema::text, 'UTF8')), 'hex')) || case p.state when 'hold' then '{"held": true}' else '{}' end::jsonb
      order by p.connection_id, p.tool_name), '[]')
    from tool_policies p
    where p.routine_id = ${routine.id} and p.project_id = ${routine.projectId} and p.state <> 'disabled'
  )`;
}

/** Policy and connection of a call. */
export interface ToolTarget {
  readonly policy: ToolPolicy;
  readonly connection: Connection;
}

/** Reads policy and connection of a call; undefined if the policy is gone. */
export async function readTarget(
  db: Db,
  { projectId, routineId }: { readonly projectId: string; readonly routineId: string },
  policyId: string,
): Promise<ToolTarget | undefined> {
  const target = targetJson({
    projectId: sql`${projectId}`,
    routineId: sql`${routineId}`,
    policyId: sql`${policyId}`,
  });
  const found = await db.value<TargetJson | null>`select ${target}`;
  return found === null ? undefined : targetOf(found);
}

/**
 * Selects policy and connection of a call as one JSON value, for a statement that also reads other data of the call;
 * null if the policy is gone.
 */
export function targetJson(ids: { projectId: Sql; routineId: Sql; policyId: Sql }): Sql {
  return sql`(
    select jsonb_build_object('policy', to_jsonb(policy), 'connection', to_jsonb(connection))
    from (select ${policyColumns} from tool_policies) policy, (select ${connectionColumns} from connections) connection
    where policy.id = ${ids.policyId} and policy."routineId" = ${ids.routineId}
      and policy."projectId" = ${ids.projectId}
      and connection.id = policy."connectionId" and connection."projectId" = ${ids.projectId}
  )`;
}

/** A target as JSON, where times are strings. */
export type TargetJson = { readonly [Part in keyof ToolTarget]: Texts<ToolTarget[Part]> };

type Texts<T> = {
  readonly [Key in keyof T]: T[Key] extends Date ? string : T[Key] extends Date | null ? string | null : T[Key];
};

export function targetOf({ policy, connection }: TargetJson): ToolTarget {
  return {
    policy: {
      ...policy,
      vanishedAt: timeOrNull(policy.vanishedAt),
      confirmedAt: timeOrNull(policy.confirmedAt),
      createdAt: new Date(policy.createdAt),
      updatedAt: new Date(policy.updatedAt),
    },
    connection: {
      ...connection,
      createdAt: new Date(connection.createdAt),
      updatedAt: new Date(connection.updatedAt),
      checkedAt: timeOrNull(connection.checkedAt),
    },
  };
}

function timeOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
