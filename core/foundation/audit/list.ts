import { deleteBatch, empty, join, ownedBy, sql, type Db } from '#lib/database/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { AuditAction } from './actions.ts';
import type { Actor, AuditDetails } from './record.ts';

export interface AuditEvent {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string | null;
  /** The author of the change. `name` is the present name, null if the author is gone. */
  readonly actor: Actor & { readonly name: string | null };
  readonly action: AuditAction;
  readonly targetId: string;
  readonly details: AuditDetails;
  readonly createdAt: Date;
}

export interface AuditFilter {
  readonly organizationId: string;
  readonly projectId?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly actorId?: string | undefined;
  readonly targetId?: string | undefined;
}

/** Lists the events of an organization, newest first. The caller has checked who may see them. */
export function listAuditEvents(db: Db, filter: AuditFilter, page: Page): Promise<AuditEvent[]> {
  const { organizationId, projectId, action, actorId, targetId } = filter;
  // Include only the given filters. With all filters in the statement, Postgres would expect almost no rows and choose
  // a slow plan.
  const conditions = [
    ownedBy(sql`organization_id`, organizationId),
    ...(projectId === undefined ? [] : [sql`project_id = ${projectId}`]),
    ...(action === undefined ? [] : [sql`action = ${action}`]),
    ...(actorId === undefined ? [] : [sql`actor_id = ${actorId}`]),
    ...(targetId === undefined ? [] : [ownedBy(sql`target_id`, targetId)]),
  ];
  return db.rows<AuditEvent>`
    select id, organization_id as "organizationId", project_id as "projectId",
      jsonb_build_object('kind', actor_kind, 'id', actor_id, 'address', address, 'name', case actor_kind
        when 'person' then (select u.name from users u where u.id = actor_id)
        when 'key' then (select k.name from api_keys k where k.id = actor_id) end) as actor,
      action, target_id as "targetId", details, created_at as "createdAt"
    from audit_events
    where ${join(conditions, ' and ')} ${afterCursor(page)}
    order by organization_id, ${targetId === undefined ? empty : sql`target_id,`} id desc limit ${page.limit + 1}
  `;
}

/** Deletes the oldest events that are older than `days`. */
export function forgetAuditEvents(db: Db, days: number, limit: number): Promise<number> {
  return deleteBatch(db, {
    table: 'audit_events',
    where: sql`created_at < now() - make_interval(days => ${days})`,
    orderBy: sql`created_at`,
    limit,
  });
}
