import { row, sql, type Db } from '#lib/database/index.ts';

/** A credential that reads a project for a while. */
export type Watcher = { readonly projectId: string } & (
  | { readonly keyId: string }
  | { readonly sessionId: string; readonly userId: string }
);

/** Tells whether a credential that was let into a project would be let in again. */
export async function stillAllowed(db: Db, watcher: Watcher): Promise<boolean> {
  const { projectId } = watcher;
  const found =
    'keyId' in watcher
      ? await row(
          db,
          sql`
            select 1 from api_keys k join projects p on p.id = k.project_id
            where k.id = ${watcher.keyId} and k.project_id = ${projectId} and k.revoked_at is null
              and (k.expires_at is null or k.expires_at > now()) and p.deleted_at is null
          `,
        )
      : await row(
          db,
          sql`
            select 1 from sessions s
            join memberships m on m.user_id = s.user_id
            join projects p on p.organization_id = m.organization_id
            where s.id = ${watcher.sessionId} and s.user_id = ${watcher.userId} and s.expires_at > now()
              and p.id = ${projectId} and p.deleted_at is null
          `,
        );
  return found !== undefined;
}
