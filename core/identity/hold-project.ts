import { row, sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';

/**
 * Holds a project against its deletion for the rest of the transaction: the deletion erases the credentials and revokes
 * the keys that are there, and later ones would stay behind. @throws {AppError} `project_not_found`
 */
export async function holdProject(tx: Db, projectId: string): Promise<void> {
  const held = await row(
    tx,
    sql`select 1 from projects where id = ${projectId} and deleted_at is null for share`,
  );
  if (held === undefined) throw new AppError('project_not_found');
}
