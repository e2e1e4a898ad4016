import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import { recordAudit, type Actor } from '#core/foundation/audit/index.ts';
import {
  admitted,
  assertAdmin,
  lacksSecondFactor,
  lockOrganization,
  rows,
  type Organization,
  type Project,
} from '#core/accounts/organizations/index.ts';
import { raw, sql, type Db, type Sql } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import {
  assertRetentionWithin,
  contentDaysOf,
  runDaysOf,
  type Retention,
  type RetentionPatch,
  type RetentionRule,
} from './retention.ts';
import { assertRecipients, mailIn, storedMail, type MailSettings } from './mail-settings.ts';

/** Spending limits; null means no limit. */
export interface Budget {
  /** Input and output tokens per calendar day, UTC. */
  readonly maxTokensPerDay: number | null;
  /** US dollars per calendar month in UTC, as a decimal string. */
  readonly maxCostUsdPerMonth: string | null;
}

/** The fields of a budget in requests. */
export const budgetFields = {
  maxTokensPerDay: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .nullable()
    .describe('Input and output tokens of a calendar day (UTC); null for no limit.'),
  maxCostUsdPerMonth: z
    .string()
    .regex(/^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/, 'a positive decimal string, like "25.00"')
    .nullable()
    .describe('US dollars of a calendar month (UTC); null for no limit.'),
};

export interface OrganizationSettings extends Organization {
  readonly budget: Budget;
  /** True when people need a second factor for every request. API keys work without a second factor. */
  readonly requiresSecondFactor: boolean;
}

export interface ProjectSettings extends Project, Retention {
  readonly budget: Budget;
  /** Mail settings of routines that have none; null for no mail. */
  readonly mail: MailSettings | null;
  /** True when programs may reach the project through `/mcp`. */
  readonly mcpEnabled: boolean;
  /** True when results can be shared by links. */
  readonly sharedLinksEnabled: boolean;
}

export interface OrganizationPatch extends rows.Change {
  readonly requiresSecondFactor?: boolean | undefined;
}

export type ProjectPatch = rows.Change &
  RetentionPatch & {
    readonly notifications?: { readonly mail?: MailSettings | null | undefined } | undefined;
    readonly mcpEnabled?: boolean | undefined;
    readonly sharedLinksEnabled?: boolean | undefined;
  };

function budget(table: Sql) {
  return sql`jsonb_build_object('maxTokensPerDay', ${table}.max_tokens_per_day,
  'maxCostUsdPerMonth', trim_scale(${table}.max_cost_usd_per_month)::text) as budget`;
}

/** Reads an organization of the person. @throws {AppError} `organization_not_found`, `second_factor_required` */
export async function readOrganization(db: Db, key: { userId: string; id: string }): Promise<OrganizationSettings> {
  const found = await db.row<OrganizationSettings & { readonly lacks: boolean }>`
    select o.id, o.name, m.role, o.created_at as "createdAt", ${budget(sql`o`)},
      o.requires_second_factor as "requiresSecondFactor", ${lacksSecondFactor(sql`o`, key.userId)} as lacks
    from memberships m join organizations o on o.id = m.organization_id
    where m.user_id = ${key.userId} and o.id = ${key.id} and o.deleted_at is null
  `;
  return admitted(found, 'organization_not_found');
}

/** Reads a project. The caller has checked the access to it. @throws {AppError} `project_not_found` */
export function projectOf(db: Db, projectId: string): Promise<Project> {
  return db.rowOr<Project>('project_not_found')`
    select id, organization_id as "organizationId", name, is_demo as "isDemo", created_at as "createdAt"
    from projects where id = ${projectId} and deleted_at is null
  `;
}

/** Reads a project of the person. @throws {AppError} `project_not_found`, `second_factor_required` */
export async function readProject(
  db: Db,
  key: { userId: string; id: string },
  rule: RetentionRule,
): Promise<ProjectSettings> {
  const found = await db.row<ProjectSettings & { readonly lacks: boolean }>`
    select p.id, p.organization_id as "organizationId", p.name, p.is_demo as "isDemo", p.created_at as "createdAt",
      ${budget(sql`p`)},
      ${raw(mailIn('p.notify_mail'))} as mail, p.mcp_enabled as "mcpEnabled",
      p.shared_links_since is not null as "sharedLinksEnabled", ${contentDaysOf(rule, sql`p`)} as "runContentDays",
      ${runDaysOf(rule, sql`p`)} as "runDays",
      ${lacksSecondFactor(sql`o`, key.userId)} as lacks
    from memberships m join organizations o on o.id = m.organization_id
    join projects p on p.organization_id = o.id
    where m.user_id = ${key.userId} and p.id = ${key.id} and p.deleted_at is null
  `;
  return admitted(found, 'project_not_found');
}

/**
 * Changes an organization. Only an owner who has a second factor can demand second factors.
 * @throws {AppError} `organization_not_found`, `forbidden` when the person is neither owner nor admin,
 * `owner_required`, `second_factor_required`
 */
export async function patchOrganization(
  tx: Db,
  by: Actor & { readonly id: string },
  id: string,
  { requiresSecondFactor, ...patch }: OrganizationPatch,
): Promise<OrganizationSettings> {
  const key = { userId: by.id, id };
  const before = await readOrganization(tx, key);
  // Lock the organization before the role, in the same order as changes of members do.
  await lockOrganization(tx, id);
  const role = await assertAdmin(tx, { organizationId: id, userId: by.id });
  const isDemandChanged = requiresSecondFactor !== undefined && requiresSecondFactor !== before.requiresSecondFactor;
  if (isDemandChanged && role !== 'owner') throw new AppError('owner_required');
  await rows.writeOrganization(tx, id, { ...patch, requiresSecondFactor });
  if (isDemandChanged) {
    await recordAudit(tx, {
      organizationId: id,
      by,
      action: 'organization.second_factor_set',
      targetId: id,
      details: { required: requiresSecondFactor },
    });
  }
  // The change may demand a second factor that its author lacks: this read then throws, and nothing is changed.
  const after = await readOrganization(tx, key);
  await recordChange(tx, { by, organizationId: id, kind: 'organization' }, before, after);
  return after;
}

/**
 * Changes a project.
 * @throws {AppError} `project_not_found`, `forbidden` when the person is neither owner nor admin of its organization,
 * `invalid_request` for more days than the service keeps runs
 */
export async function patchProject(
  tx: Db,
  by: Actor & { readonly id: string },
  id: string,
  patch: ProjectPatch,
  rule: RetentionRule,
): Promise<ProjectSettings> {
  const key = { userId: by.id, id };
  const before = await readProject(tx, key, rule);
  const { organizationId } = before;
  await assertAdmin(tx, { organizationId, userId: by.id });
  assertRetentionWithin(rule, patch);
  const mail = patch.notifications?.mail;
  await assertRecipients(tx, id, mail?.to ?? null, 'notifications.mail.to');
  await rows.writeProject(tx, id, { ...patch, mail: mail && storedMail(mail) });
  const after = await readProject(tx, key, rule);
  await recordChange(tx, { by, organizationId, projectId: id, kind: 'project' }, before, after);
  return after;
}

async function recordChange(
  tx: Db,
  of: { by: Actor; organizationId: string; projectId?: string; kind: 'organization' | 'project' },
  before: OrganizationSettings | ProjectSettings,
  after: OrganizationSettings | ProjectSettings,
): Promise<void> {
  const { kind, ...where } = of;
  const entry = { ...where, targetId: after.id };
  if (before.name !== after.name) {
    const details = { from: before.name, to: after.name };
    await recordAudit(tx, { ...entry, action: `${kind}.renamed`, details });
  }
  if ('mail' in before && 'mail' in after && !isDeepStrictEqual(before.mail, after.mail)) {
    const { on = [], to = [] } = after.mail ?? {};
    const details = { on: [...on], to: typeof to === 'string' ? to : [...to] };
    await recordAudit(tx, { ...entry, action: 'notifications.changed', details });
  }
  if ('runDays' in before && 'runDays' in after) {
    const { runDays, runContentDays } = after;
    if (before.runDays !== runDays || before.runContentDays !== runContentDays) {
      const details = { runContentDays, runDays };
      await recordAudit(tx, { ...entry, action: 'retention.changed', details });
    }
  }
  if ('mcpEnabled' in before && 'mcpEnabled' in after && before.mcpEnabled !== after.mcpEnabled) {
    const details = { enabled: after.mcpEnabled };
    await recordAudit(tx, { ...entry, action: 'mcp.switched', details });
  }
  if ('sharedLinksEnabled' in before && 'sharedLinksEnabled' in after) {
    const details = { enabled: after.sharedLinksEnabled };
    if (before.sharedLinksEnabled !== details.enabled) {
      await recordAudit(tx, { ...entry, action: 'sharing.switched', details });
    }
  }
  const { maxTokensPerDay, maxCostUsdPerMonth } = after.budget;
  const isSame =
    before.budget.maxTokensPerDay === maxTokensPerDay && before.budget.maxCostUsdPerMonth === maxCostUsdPerMonth;
  if (!isSame) {
    const details = { maxTokensPerDay, maxCostUsdPerMonth };
    await recordAudit(tx, { ...entry, action: 'budget.changed', details });
  }
}
