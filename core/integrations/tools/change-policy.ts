import { isDeepStrictEqual } from 'node:util';
import type { Core } from '#core/core.ts';
import { recordProjectAudit, type Actor } from '#core/foundation/audit/index.ts';
import { transaction, type Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { assertUsableSchema, readableSchema, schemaRefusal } from '#core/clients/json-schemas/index.ts';
import type { LeftOutKeyword, PolicyState, ReadableSchemas, ToolPolicy } from './policy.ts';
import { countEnabled, holdRoutine, readPolicy, updatePolicy, type PolicyChange } from './queries.ts';

export interface PolicyPatch {
  /** True when the person has seen the definition and lets the tool run without asking them. */
  readonly confirmAutomaticExecution?: boolean | undefined;
  readonly state?: PolicyState | undefined;
  readonly maxCallsPerRun?: number | null | undefined;
  readonly argumentSchema?: Readonly<Record<string, unknown>> | null | undefined;
  /** Hash of the definition that the caller has seen; a change is refused if the definition has another hash now. */
  readonly definitionHash?: string | undefined;
}

/**
 * Changes a policy. Only a confirmation makes a policy automatic or widens an automatic policy. A change without a
 * confirmation can make a policy stricter, or hold each call for a person. Each change is material for the routine.
 * @throws {AppError} `routine_not_found`, `routine_archived`, `policy_not_found`, `confirmation_required`,
 * `precondition_failed`, `invalid_request`, `rate_limited` while many other schemas of the project are being checked
 */
export async function changePolicy(
  { database, emit }: Pick<Core, 'database' | 'emit'>,
  input: PolicyChangeInput,
): Promise<ToolPolicy> {
  const { projectId, routineId, patch } = input;
  // Compile the schemas outside the transaction, because that takes time. Find the other faults of the change first.
  const hasSchemas = patch.confirmAutomaticExecution === true || patch.state === 'hold' || patch.argumentSchema != null;
  const checked = hasSchemas ? await transaction(database, (tx) => propose(tx, input)) : undefined;
  const readable = checked === undefined ? null : await readSchemas(checked.before, patch);
  return transaction(database, async (tx) => {
    const { before, change } = await propose(tx, input);
    if (checked !== undefined && checked.before.definitionHash !== before.definitionHash) {
      throw new AppError('precondition_failed', 'The tool was changed by another request meanwhile; read it again.');
    }
    if (isSame(before, change)) return before;
    if (change.state !== 'disabled' && before.state === 'disabled') await assertRoomForTool(tx, routineId);
    const { by, policyId } = input;
    const after = await updatePolicy(tx, before, change, readable);
    await emit(tx, 'tools.changed', { projectId, routineIds: [routineId], reason: null, by });
    const details = { routineId, tool: after.toolName, from: before.state, to: after.state };
    await recordProjectAudit(tx, {
      by,
      projectId,
      action: 'policy.changed',
      targetId: policyId,
      details,
    });
    return after;
  });
}

interface PolicyChangeInput {
  readonly projectId: string;
  readonly routineId: string;
  readonly policyId: string;
  readonly by: Actor & { readonly id: string };
  readonly patch: PolicyPatch;
}

async function propose(tx: Db, input: PolicyChangeInput): Promise<{ before: ToolPolicy; change: PolicyChange }> {
  await holdRoutine(tx, input);
  const before = await readPolicy(tx, input);
  const { definitionHash } = input.patch;
  if (definitionHash !== undefined && definitionHash !== before.definitionHash) {
    throw new AppError('precondition_failed', 'The tool has changed since you read the definition with this hash.');
  }
  return { before, change: decide(before, input.patch, input.by.id) };
}

/** Computes the change of a patch without its schemas. @throws {AppError} `confirmation_required`, `invalid_request` */
function decide(before: ToolPolicy, patch: PolicyPatch, actor: string): PolicyChange {
  const confirms = patch.confirmAutomaticExecution === true;
  const maxCallsPerRun = patch.maxCallsPerRun === undefined ? before.maxCallsPerRun : patch.maxCallsPerRun;
  const argumentSchema = patch.argumentSchema === undefined ? before.argumentSchema : patch.argumentSchema;
  if (confirms) {
    if (patch.state === 'disabled' || patch.state === 'hold') {
      throw new AppError('invalid_request', `state: ${patch.state} contradicts the confirmation`);
    }
    assertThere(before);
    return { state: 'automatic', confirmedBy: actor, maxCallsPerRun, argumentSchema };
  }
  const limits = { maxCallsPerRun, argumentSchema };
  if (patch.state === 'hold') {
    assertThere(before);
    // To hold a tool, a person confirms only its definition, because a person decides about each call.
    return { state: 'hold', confirmedBy: before.state === 'hold' ? undefined : actor, ...limits };
  }
  const asksForNothing =
    patch.state === undefined && patch.maxCallsPerRun === undefined && patch.argumentSchema === undefined;
  const automates = patch.state === 'automatic' && before.state !== 'automatic';
  const state = patch.state ?? before.state;
  const widens = state === 'automatic' && !isStricter(before, limits);
  if (asksForNothing || automates || widens) throw new AppError('confirmation_required');
  return { state, confirmedBy: undefined, ...limits };
}

function assertThere({ vanishedAt }: ToolPolicy): void {
  if (vanishedAt !== null) throw new AppError('invalid_request', 'The server no longer has this tool; discover again.');
}

type Limits = Pick<PolicyChange, 'maxCallsPerRun' | 'argumentSchema'>;

/**
 * Tells whether limits are stricter. A schema in place of another schema never counts as stricter, because the new
 * schema may allow anything.
 */
function isStricter(before: Limits, after: Limits): boolean {
  const calls = after.maxCallsPerRun ?? Number.POSITIVE_INFINITY;
  return (
    calls <= (before.maxCallsPerRun ?? Number.POSITIVE_INFINITY) &&
    (before.argumentSchema === null || isDeepStrictEqual(before.argumentSchema, after.argumentSchema))
  );
}

/** The most enabled tools: as many as model providers accept in one request. */
const MAX_ENABLED_TOOLS = 128;

async function assertRoomForTool(tx: Db, routineId: string): Promise<void> {
  if ((await countEnabled(tx, routineId)) < MAX_ENABLED_TOOLS) return;
  const message = `A routine may have ${MAX_ENABLED_TOOLS} automatic tools, held ones included; disable another one first.`;
  throw new AppError('invalid_request', message);
}

/**
 * Checks the schemas that a patch puts into force. A person's own schema must be valid. Unreadable parts of the
 * server's schemas are left out.
 * @returns the readable part of the server's schemas; null when all of it is readable
 * @throws {AppError} `invalid_request` for a schema that cannot be used, `rate_limited`
 */
async function readSchemas(policy: ToolPolicy, patch: PolicyPatch): Promise<ReadableSchemas | null> {
  const { projectId } = policy;
  const refusal = (path: string) => (error: unknown) => {
    throw schemaRefusal(error, path);
  };
  if (patch.argumentSchema != null) {
    await assertUsableSchema(projectId, patch.argumentSchema).catch(refusal('argumentSchema'));
  }
  if (patch.confirmAutomaticExecution !== true && patch.state !== 'hold') return null;
  const read: { -readonly [Schema in 'inputSchema' | 'outputSchema']?: JsonObject } = {};
  const leftOut: LeftOutKeyword[] = [];
  for (const name of ['inputSchema', 'outputSchema'] as const) {
    const schema = policy[name];
    if (schema === null) continue;
    const found = await readableSchema(projectId, schema).catch(refusal(name));
    if (found.schema === schema) continue;
    read[name] = found.schema;
    leftOut.push(...found.leftOut.map(({ place, reason }) => ({ place: `${name}.${place}`, reason })));
  }
  return Object.keys(read).length === 0 ? null : { ...read, leftOut: leftOut.slice(0, MAX_LEFT_OUT) };
}

/** The most unreadable keywords that the message of a refusal names. */
const MAX_LEFT_OUT = 50;

function isSame(before: ToolPolicy, change: PolicyChange): boolean {
  return (
    change.confirmedBy === undefined &&
    before.state === change.state &&
    before.maxCallsPerRun === change.maxCallsPerRun &&
    isDeepStrictEqual(before.argumentSchema, change.argumentSchema)
  );
}
