import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import { assertAdmin, holdProject, type Scope } from '#core/accounts/organizations/index.ts';
import { sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError, invalid } from '#lib/errors.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import { assertWithinQuota } from '#lib/quota.ts';
import { mailApproval } from './mail.ts';
import { includeWriting } from './terminals.ts';

/** A rule by which jobs of a CI system get a short-lived API key for their ID token (OpenID Connect). */
export interface CiTrust {
  readonly id: string;
  readonly name: string;
  /** The `iss` of the tokens. */
  readonly issuer: string;
  /** The `aud` of the tokens. */
  readonly audience: string;
  /** Matches the `sub` of the tokens; one `*` between two colons means any text. */
  readonly subjectPattern: string;
  readonly scopes: readonly Scope[];
  /** The person in whose name the keys are made. */
  readonly createdBy: { readonly id: string; readonly name: string };
  readonly createdAt: Date;
}

const columns = sql`
  t.id, t.name, t.issuer, t.audience, t.subject_pattern as "subjectPattern", t.scopes, t.created_at as "createdAt",
  (select jsonb_build_object('id', u.id, 'name', u.name) from users u where u.id = t.created_by) as "createdBy"
`;

const MAX_TRUSTS = 50;

type NewCiTrust = Omit<CiTrust, 'createdBy' | 'createdAt'> & {
  readonly organizationId: string;
  readonly projectId: string;
};

/**
 * Lets jobs of a CI system sign in. @throws {AppError} `forbidden` when a member wants keys that can write,
 * `invalid_request`, `limit_reached`
 */
export async function createCiTrust(
  tx: Db,
  { outbound }: { readonly outbound: Pick<OutboundClient, 'urlFault'> },
  by: Actor & { readonly id: string },
  input: NewCiTrust,
): Promise<CiTrust> {
  const { id, organizationId, projectId, name, issuer, audience, subjectPattern, scopes } = input;
  const fault = outbound.urlFault(issuer);
  if (fault !== undefined) throw invalid([{ path: 'issuer', message: fault.message }]);
  await holdProject(tx, projectId);
  if (includeWriting(scopes)) await assertAdmin(tx, { organizationId, userId: by.id });
  await assertWithinQuota(tx, {
    counted: sql`select from ci_trusts where project_id = ${projectId} and id <> ${id}`,
    max: MAX_TRUSTS,
    what: 'CI sign-ins',
  });
  await tx.run`
    insert into ci_trusts (id, project_id, name, issuer, audience, subject_pattern, scopes, created_by)
    values (${id}, ${projectId}, ${name}, ${issuer}, ${audience}, ${subjectPattern}, ${scopes}, ${by.id})
    on conflict (id) do nothing
  `;
  const details = { name, issuer, subjectPattern, scopes: [...scopes] };
  await recordAudit(tx, { organizationId, projectId, by, action: 'ci_trust.created', targetId: id, details });
  const program = `Each CI job of ${issuer} with the subject "${subjectPattern}"`;
  await mailApproval(tx, { organizationId, projectId, userId: by.id, program, scopes, page: 'api-keys' });
  const [created] = await findCiTrusts(tx, projectId, sql`t.id = ${id}`);
  if (created === undefined) throw new AppError('internal_error');
  return created;
}

/** Lists the CI sign-ins of a project, the newest first. */
export function listCiTrusts(db: Db, projectId: string, page: Page): Promise<CiTrust[]> {
  return db.rows<CiTrust>`
    select ${columns} from ci_trusts t where t.project_id = ${projectId} ${afterCursor(page, sql`t.id`)}
    order by t.id desc limit ${page.limit + 1}
  `;
}

/** Finds CI sign-ins of a project. @param which condition on `ci_trusts t` */
export function findCiTrusts(db: Db, projectId: string, which: Sql): Promise<CiTrust[]> {
  return db.rows<CiTrust>`
    select ${columns} from ci_trusts t where t.project_id = ${projectId} and ${which} order by t.id
  `;
}

/** Ends a CI sign-in together with the keys of its jobs. @throws {AppError} `ci_trust_not_found` */
export async function deleteCiTrust(
  tx: Db,
  by: Actor,
  input: { readonly organizationId: string; readonly projectId: string; readonly id: string },
): Promise<CiTrust> {
  const { organizationId, projectId, id } = input;
  const [found] = await findCiTrusts(tx, projectId, sql`t.id = ${id}`);
  if (found === undefined) throw new AppError('ci_trust_not_found');
  await tx.run`delete from ci_trusts where id = ${id} and project_id = ${projectId}`;
  const { name } = found;
  await recordAudit(tx, { organizationId, projectId, by, action: 'ci_trust.deleted', targetId: id, details: { name } });
  return found;
}

/** Deletes the CI sign-ins of a project that is being deleted, with their keys. */
export async function forgetTrustsOfProject(tx: Db, projectId: string): Promise<void> {
  await tx.run`delete from ci_trusts where project_id = ${projectId}`;
}

/** Deletes the CI sign-ins that a former member made in an organization. */
export async function forgetTrustsOfMember(
  tx: Db,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<void> {
  await tx.run`
    delete from ci_trusts where created_by = ${userId}
      and project_id in (select id from projects where organization_id = ${organizationId})
  `;
}
