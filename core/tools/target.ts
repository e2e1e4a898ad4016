import { connectionColumns, type Connection } from '#core/connections/index.ts';
import { sql, type Sql } from '#lib/database/index.ts';
import type { ToolPolicy } from './policy.ts';
import { policyColumns } from './queries.ts';

/** The policy that a call falls under, and the connection that it goes through. */
export interface ToolTarget {
  readonly policy: ToolPolicy;
  readonly connection: Connection;
}

/**
 * Selects the target as one JSON value, for a statement that reads other things of the call as well: null where the
 * policy or its connection is gone.
 */
export function targetJson(ids: {
  projectId: Sql;
  routineId: Sql;
  policyId: Sql;
  connectionId: Sql;
}): Sql {
  return sql`(
    select jsonb_build_object('policy', to_jsonb(policy), 'connection', to_jsonb(connection))
    from (select ${policyColumns} from tool_policies) policy, (select ${connectionColumns} from connections) connection
    where policy.id = ${ids.policyId} and policy."routineId" = ${ids.routineId}
      and policy."projectId" = ${ids.projectId}
      and connection.id = ${ids.connectionId} and connection."projectId" = ${ids.projectId}
  )`;
}

/** A target as JSON, where times are strings. */
export type TargetJson = { readonly [Part in keyof ToolTarget]: Texts<ToolTarget[Part]> };

type Texts<T> = {
  readonly [Key in keyof T]: T[Key] extends Date
    ? string
    : T[Key] extends Date | null
      ? string | null
      : T[Key];
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
