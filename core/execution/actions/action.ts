import { createHash } from 'node:crypto';
import { authorJson, type Author } from '#core/foundation/audit/index.ts';
import { sql } from '#lib/database/index.ts';
import type { ToolTarget } from '#core/integrations/tools/index.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';

/**
 * States of a held call. `open` waits for a person; `approved` and `sending` are under way; all other states are final.
 */
export const ACTION_STATES = {
  open: 'the call waits for a person',
  approved: 'a person has approved the call, which has not been sent yet',
  sending: 'the request is under way',
  done: 'the tool has carried out the call',
  failed: 'the tool answered with an error, or the call was refused',
  outcome_unknown: 'the call may have taken effect, which nothing confirms; it is not sent again',
  rejected: 'a person has rejected the call, or it has expired',
  replaced: 'a person has changed the arguments; the changed call is an action of its own',
  closed: 'the call can no longer be carried out',
} as const;
export type ActionState = keyof typeof ACTION_STATES;

/** Reasons for an action that ended without a person's decision, or could not be carried out: a closed list. */
export const ACTION_REASONS = {
  expired: 'no one decided in time',
  tool_changed: 'the server changed or removed the tool, or its definition was confirmed again',
  tool_disabled: 'the tool was disabled for the routine',
  connection_removed: 'the connection of the tool was deleted',
  connection_changed: 'the connection has another account or address now',
  routine_archived: 'the routine was archived',
  content_erased: 'the arguments were erased with the texts of the run',
  reference_ended: 'another action, whose result the arguments use, was not carried out',
  reference_missing: 'the result that the arguments use has no such value, or one that is too long',
  call_refused: 'the call was refused before it was sent',
  unreachable: 'the tool server could not be reached before the action expired',
} as const;
export type ActionReason = keyof typeof ACTION_REASONS;

/** A tool call that a run asked for. The call is made once a person has approved it. */
export interface Action {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly routineId: string;
  readonly routineName: string;
  /** The run that asked for the call first. */
  readonly runId: string;
  /** The last run that asked for the same call while the action was open. */
  readonly lastRunId: string;
  /** Number of times that runs have asked for the call. */
  readonly times: number;
  readonly policyId: string;
  readonly connectionId: string;
  readonly connectionName: string;
  /** The account of the connection at its provider, if known. */
  readonly account: string | null;
  readonly toolName: string;
  readonly definitionHash: string;
  /** Arguments of the call; null once they are erased. */
  readonly arguments: JsonObject | null;
  readonly digest: string;
  /** Ids of the actions whose results the arguments refer to. */
  readonly refersTo: readonly string[];
  /** The text that the model wrote with the call; null without a text. */
  readonly modelReason: string | null;
  readonly state: ActionState;
  readonly reason: ActionReason | null;
  /** The note of the person who rejected the action. */
  readonly note: string | null;
  /** The action whose arguments were changed. */
  readonly replaces: string | null;
  readonly replacedBy: string | null;
  readonly decidedBy: Author | null;
  readonly decidedAt: Date | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly sentAt: Date | null;
  readonly finishedAt: Date | null;
  readonly isError: boolean | null;
  /** Text of the tool's response, without secrets, cut at 16,000 characters. */
  readonly result: string | null;
  readonly resultLength: number | null;
  readonly errorMessage: string | null;
}

export const actionColumns = sql`
  id, organization_id as "organizationId", project_id as "projectId", routine_id as "routineId",
  (select r.name from routines r where r.id = actions.routine_id and r.project_id = actions.project_id)
  as "routineName", run_id as "runId", last_run_id as "lastRunId", times, policy_id as "policyId",
  connection_id as "connectionId", connection_name as "connectionName", account, tool_name as "toolName",
  definition_hash as "definitionHash", arguments, digest, refers_to as "refersTo", model_reason as "modelReason",
  state, reason, note, replaces, replaced_by as "replacedBy", decided_at as "decidedAt", created_at as "createdAt",
  ${authorJson({ createdBy: sql`decided_by`, projectId: sql`actions.project_id` })} as "decidedBy",
  expires_at as "expiresAt", sent_at as "sentAt", finished_at as "finishedAt", is_error as "isError", result,
  result_length as "resultLength", error_message as "errorMessage"
`;

/** The part of a held call that a person approves. */
export interface SeenCall {
  readonly toolName: string;
  readonly definitionHash: string;
  readonly connection: Pick<ToolTarget['connection'], 'id' | 'url' | 'accountLabel'>;
  readonly arguments: JsonObject;
}

/**
 * Returns the SHA-256, in hex, of the approved contents as canonical JSON (RFC 8785): tool, definition, connection with
 * its address and account, and arguments. A number that no double represents counts with all its digits.
 */
export function digestOf({
  toolName: tool,
  definitionHash: definition,
  connection,
  arguments: args,
}: SeenCall): string {
  const { id, url, accountLabel: account } = connection;
  const seen = canonicalJson({ tool, definition, connection: { id, url, account }, arguments: args });
  return createHash('sha256').update(seen).digest('hex');
}

/** Returns the reason why a held call can no longer be carried out; undefined if there is no obstacle. */
export function obstacleOf(action: Action, target: ToolTarget | undefined): ActionReason | undefined {
  if (action.arguments === null) return 'content_erased';
  if (target === undefined) return 'connection_removed';
  const { policy, connection } = target;
  if (policy.definitionHash !== action.definitionHash || policy.vanishedAt !== null) return 'tool_changed';
  if (policy.state === 'disabled' || policy.confirmedHash !== action.definitionHash) return 'tool_disabled';
  const digest = digestOf({ ...action, arguments: action.arguments, connection });
  return digest === action.digest ? undefined : 'connection_changed';
}
