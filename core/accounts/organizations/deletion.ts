import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { revokeKeysOfProject } from './api-keys.ts';
import { findOrganization, type Organization, type PaidPlan } from './organizations.ts';
import { findProject, type Project } from './projects.ts';
import { assertAdmin, lockOrganization } from './roles.ts';

/** The name that the person typed to confirm the deletion. */
interface Confirmed {
  readonly id: string;
  readonly confirm: string;
}

/**
 * Marks a project deleted: no session can select it, its keys stop working and no one sees it.
 * @throws {AppError} `project_not_found`, `forbidden`, `confirmation_required`
 */
export async function markProjectDeleted(
  tx: Db,
  by: Actor & { readonly id: string },
  { id, confirm }: Confirmed,
): Promise<Project> {
  const project = await findProject(tx, { userId: by.id, id });
  const { organizationId, name } = project;
  await lockOrganization(tx, organizationId);
  await assertAdmin(tx, { organizationId, userId: by.id });
  assertConfirmed(name, confirm);
  await mark(tx, by, { id, organizationId, name });
  return project;
}

/**
 * Marks an organization and all its projects deleted. Its members stay on record and lose access.
 * @returns the ids of its projects
 * @throws {AppError} `organization_not_found`, `owner_required`, `confirmation_required`, `subscription_active`
 */
export async function markOrganizationDeleted(
  tx: Db,
  by: Actor & { readonly id: string },
  { id, confirm }: Confirmed,
): Promise<{ organization: Organization; projectIds: readonly string[] }> {
  const organization = await findOrganization(tx, { userId: by.id, id });
  await lockOrganization(tx, id);
  if ((await assertAdmin(tx, { organizationId: id, userId: by.id })) !== 'owner') {
    throw new AppError('owner_required');
  }
  assertConfirmed(organization.name, confirm);
  const { paidPlan = null } =
    (await tx.row<{
      paidPlan: PaidPlan | null;
    }>`select paid_plan as "paidPlan" from organizations where id = ${id}`) ?? {};
  if (paidPlan !== null) throw new AppError('subscription_active');
  const projects = await tx.rows<{ id: string; name: string }>`
    select id, name from projects where organization_id = ${id} and deleted_at is null order by id
    for no key update
  `;
  for (const project of projects) await mark(tx, by, { ...project, organizationId: id });
  await tx.run`delete from invitations where organization_id = ${id}`;
  await tx.run`update organizations set deleted_at = now() where id = ${id}`;
  const { name } = organization;
  await recordAudit(tx, {
    organizationId: id,
    by,
    action: 'organization.deleted',
    targetId: id,
    details: { name },
  });
  return { organization, projectIds: projects.map((project) => project.id) };
}

async function mark(
  tx: Db,
  by: Actor,
  { id, organizationId, name }: { id: string; organizationId: string; name: string },
): Promise<void> {
  const marked = await tx.run`
    update projects set deleted_at = now(), run_content_days = 0 where id = ${id} and deleted_at is null
  `;
  if (marked === 0) throw new AppError('project_not_found');
  await revokeKeysOfProject(tx, by, { organizationId, projectId: id });
  await recordAudit(tx, {
    organizationId,
    projectId: id,
    by,
    action: 'project.deleted',
    targetId: id,
    details: { name },
  });
}

function assertConfirmed(name: string, confirm: string): void {
  if (name === confirm) return;
  throw new AppError('confirmation_required', 'confirm: must be the name of the project or organization to delete');
}

/**
 * Number of projects in one pass. Their order is random, so that a project that has to wait does not block the others.
 */
const PROJECTS = 100;

/** Longest time for which a request that began before the deletion of its project can still write into the project. */
const LATE_WRITES = sql`interval '1 hour'`;

/** Finds deleted projects that may still contain text of people. */
export async function projectsToErase(db: Db): Promise<string[]> {
  const found = await db.rows<{ id: string }>`
    select id from projects where deleted_at is not null and erased_at is null
    order by random() limit ${PROJECTS}
  `;
  return found.map(({ id }) => id);
}

/**
 * Records that these projects are empty. A project is recorded only once late writes into it are impossible, so that no
 * late write escapes the erasure.
 * @returns how many were recorded
 */
export function markErased(db: Db, ids: readonly string[]): Promise<number> {
  return db.run`
    update projects set erased_at = now(), notify_mail = null
    where id = any(${ids}) and deleted_at < now() - ${LATE_WRITES} and erased_at is null
  `;
}
