import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { sql, storableJson, transaction, type Database, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { afterCursor, type Page } from '#lib/paging.ts';
import type { ToolPolicy } from './policy.ts';
import { holdRoutine, readPolicy } from './queries.ts';
import { ruleInWords, type RuleCondition, type ToolRule } from './rule.ts';

const ruleColumns = sql`
  id, policy_id as "policyId", definition_hash as "definitionHash", conditions, expires_at as "expiresAt",
  max_uses as "maxUses", uses, created_by as "createdBy", created_at as "createdAt", revoked_at as "revokedAt"
`;

export { matchingRule, ruleInWords, type ToolRule } from './rule.ts';

/** SQL condition on a row of `tool_rules`: the rule may let another call through. */
const isStanding = sql`revoked_at is null and (expires_at is null or expires_at > now())
  and (max_uses is null or uses < max_uses)`;

interface PolicyScope {
  readonly projectId: string;
  readonly routineId: string;
  readonly policyId: string;
}

/** The most standing rules of one policy. */
const MAX_RULES = 50;

/**
 * Makes a rule for the definition of the tool that is confirmed now. The rule applies while the policy holds calls.
 * @throws {AppError} `policy_not_found`, `routine_not_found`, `routine_archived`, `limit_reached`, and
 * `invalid_request` for a policy that holds no calls
 */
export function createRule(
  database: Database,
  by: Actor & { readonly id: string },
  rule: PolicyScope & {
    readonly id: string;
    readonly conditions: readonly RuleCondition[];
    readonly expiresAt: Date | null;
    readonly maxUses: number | null;
  },
): Promise<ToolRule> {
  const { id, projectId, routineId, policyId, conditions, expiresAt, maxUses } = rule;
  return transaction(database, async (tx) => {
    await holdRoutine(tx, rule);
    const { state, confirmedHash, toolName } = await readPolicy(tx, rule);
    if (state !== 'hold')
      throw new AppError('invalid_request', 'Only a tool whose policy has the state hold takes standing rules.');
    if ((await standingRules(tx, { id: policyId, projectId, confirmedHash })).length >= MAX_RULES) {
      throw new AppError(
        'limit_reached',
        `The tool has ${MAX_RULES} standing rules, the most allowed; revoke one first.`,
      );
    }
    const made = await tx.rowOr<ToolRule>('internal_error')`
      insert into tool_rules (id, project_id, policy_id, definition_hash, conditions, expires_at, max_uses, created_by)
      values (${id}, ${projectId}, ${policyId}, ${confirmedHash}, ${storableJson(conditions)}::jsonb, ${expiresAt},
        ${maxUses}, ${by.id})
      on conflict (id) do update set id = excluded.id where tool_rules.project_id = excluded.project_id
      returning ${ruleColumns}
    `;
    const until = expiresAt?.toISOString() ?? null;
    const details = { routineId, policyId, tool: toolName, rule: ruleInWords(made), maxUses, expiresAt: until };
    await recordProjectAudit(tx, { by, projectId, action: 'tool_rule.created', targetId: id, details });
    return made;
  });
}

/** Lists the rules of a policy, including ended rules, the newest first. @throws {AppError} `policy_not_found` */
export async function listRules(db: Db, scope: PolicyScope, page: Page): Promise<ToolRule[]> {
  await readPolicy(db, scope);
  const { projectId, policyId } = scope;
  return db.rows<ToolRule>`
    select ${ruleColumns} from tool_rules
    where project_id = ${projectId} and policy_id = ${policyId} ${afterCursor(page)}
    order by id desc limit ${page.limit + 1}
  `;
}

/** Revokes a rule; a revoked rule stays revoked. @throws {AppError} `tool_rule_not_found` */
export function revokeRule(
  database: Database,
  by: Actor,
  { projectId, routineId, policyId, ruleId }: PolicyScope & { readonly ruleId: string },
): Promise<ToolRule> {
  return transaction(database, async (tx) => {
    await readPolicy(tx, { projectId, routineId, policyId });
    const before = await tx.rowOr<ToolRule>('tool_rule_not_found')`
      select ${ruleColumns} from tool_rules
      where id = ${ruleId} and policy_id = ${policyId} and project_id = ${projectId} for update
    `;
    if (before.revokedAt !== null) return before;
    const revoked = await tx.row<ToolRule>`
      update tool_rules set revoked_at = now()
      where id = ${ruleId} and project_id = ${projectId} returning ${ruleColumns}
    `;
    const details = { routineId, policyId };
    await recordProjectAudit(tx, { by, projectId, action: 'tool_rule.revoked', targetId: ruleId, details });
    return revoked ?? before;
  });
}

/** Finds the rules that apply to the confirmed definition of a policy, the oldest first. */
export function standingRules(
  db: Db,
  { id, projectId, confirmedHash }: Pick<ToolPolicy, 'id' | 'projectId' | 'confirmedHash'>,
): Promise<ToolRule[]> {
  return db.rows<ToolRule>`
    select ${ruleColumns} from tool_rules
    where policy_id = ${id} and project_id = ${projectId} and definition_hash = ${confirmedHash} and ${isStanding}
    order by id
  `;
}

/** Counts a call that a rule lets through. @returns false when the rule has ended meanwhile */
export async function spendRule(
  tx: Db,
  { id: policyId, projectId }: Pick<ToolPolicy, 'id' | 'projectId'>,
  ruleId: string,
): Promise<boolean> {
  const spent = await tx.run`
    update tool_rules set uses = uses + 1
    where id = ${ruleId} and policy_id = ${policyId} and project_id = ${projectId} and ${isStanding}
  `;
  return spent > 0;
}
