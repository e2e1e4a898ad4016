import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { AuditAction } from './actions.ts';

/** The author of a change, and the address from which the change was made. */
export interface Actor {
  readonly kind: 'person' | 'key' | 'system';
  /** The id of the person or of the API key; null for the service itself. */
  readonly id: string | null;
  /** The address of the caller; null when the service acts by itself. */
  readonly address: string | null;
  /** Protocol of a call that is not plain HTTP, and the name that its client gave. */
  readonly via?: { readonly via: 'mcp'; readonly client: string };
}

/** The service itself, for changes that no one asked for. */
export const SYSTEM: Actor = { kind: 'system', id: null, address: null };

/** Short words and numbers about the change; never a secret, and nothing that a model wrote. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null | string[]>>;

/** A change to record, with its subject in an organization. */
interface AuditEntry {
  readonly organizationId: string;
  readonly by: Actor;
  readonly action: AuditAction;
  readonly targetId: string;
  readonly projectId?: string | null;
  readonly details?: AuditDetails;
}

/** A change for which the caller has only the project. The organization is read from the project. */
type ProjectAuditEntry = Omit<AuditEntry, 'organizationId' | 'projectId'> & { readonly projectId: string };

/** Records a change, in the transaction that makes it. */
export async function recordAudit(tx: Db, entry: AuditEntry): Promise<void> {
  const { by, organizationId, projectId, action, targetId, details } = entry;
  await tx.run`
    insert into audit_events (id, organization_id, project_id, actor_kind, actor_id, address, action, target_id,
    details)
    values (${newId('auditEvent')}, ${organizationId}, ${projectId ?? null}, ${by.kind}, ${by.id}, ${by.address},
      ${action}, ${targetId}, ${JSON.stringify({ ...details, ...by.via })}::jsonb)
  `;
}

/** Records a change for which the caller has only the project, in the transaction that makes the change. */
export async function recordProjectAudit(tx: Db, entry: ProjectAuditEntry): Promise<void> {
  const { by, projectId, action, targetId, details } = entry;
  await tx.run`
    insert into audit_events (id, organization_id, project_id, actor_kind, actor_id, address, action, target_id,
    details)
    select ${newId('auditEvent')}, p.organization_id, p.id, ${by.kind}, ${by.id}, ${by.address},
      ${action}, ${targetId}, ${JSON.stringify({ ...details, ...by.via })}::jsonb
    from projects p where p.id = ${projectId}
  `;
}

/** The person or API key that wrote a text, with their present name. */
export interface Author {
  readonly kind: 'person' | 'key';
  readonly id: string;
  /** Present name of the author; null for an account or a key that is gone. */
  readonly name: string | null;
}

/** Selects an author as one JSON value; null when no author is stored, as for a change by the service itself. */
export function authorJson(made: { readonly createdBy: Sql; readonly projectId: Sql }): Sql {
  const { createdBy, projectId } = made;
  return sql`case when starts_with(${createdBy}, 'key_')
    then jsonb_build_object('kind', 'key', 'id', ${createdBy}, 'name',
      (select k.name from api_keys k where k.id = ${createdBy} and k.project_id = ${projectId}))
    when ${createdBy} is not null then jsonb_build_object('kind', 'person', 'id', ${createdBy}, 'name',
      (select u.name from users u where u.id = ${createdBy}))
  end`;
}
