import type { Core } from '#core/core.ts';
import {
  callOnce,
  policyUnchanged,
  readResult,
  readTarget,
  redact,
  SHOWN_LENGTH,
  type MadeCall,
  type ToolCallDeps,
  type ToolPolicy,
} from '#core/integrations/tools/index.ts';
import { afterCommit, persistently, sql, storableJson, transaction, type Db, type Sql } from '#lib/database/index.ts';
import { parseJson, type JsonObject } from '#lib/json.ts';
import { cut, sentence } from '#lib/text.ts';
import { actionColumns, obstacleOf, type Action, type ActionReason, type ActionState } from './action.ts';
import { endReferring } from './end.ts';
import { runAgain } from './news.ts';
import { findReferred } from './queries.ts';
import { withValues } from './references.ts';

export type SendActionDeps = ToolCallDeps & Pick<Core, 'uiOrigin' | 'work'>;

/** Result of an attempt; `waits` if nothing was sent and a later attempt may send the call. */
export type SendOutcome = 'done' | 'failed' | 'outcome_unknown' | 'closed' | 'waits' | 'skipped';

/**
 * Sends an approved call, once: the action is marked before the request leaves, and an attempt that finds the mark of
 * another attempt records that the outcome is unknown. After a failure before anything was sent, the action stays
 * approved.
 * @throws the signal's reason, when it was aborted
 */
export async function sendAction(
  deps: SendActionDeps,
  started: StartedAction,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const { database } = deps;
  const action = await persistently(() => findUnderWay(database, started), signal);
  if (action === undefined) return 'skipped';
  if (action.state === 'sending') return persistently(() => record(deps, action, LOST), signal);
  const target = await readTarget(database, action, action.policyId);
  const obstacle = obstacleOf(action, target);
  const filled = obstacle === undefined ? await filledArguments(database, action) : undefined;
  const reason = obstacle ?? filled?.reason;
  if (reason !== undefined || target === undefined || filled?.arguments === undefined) {
    return record(deps, action, { state: 'closed', reason: reason ?? 'connection_removed' });
  }
  let isMarked = false;
  const call = await callOnce(
    deps,
    { runId: action.id, signal },
    {
      target,
      input: filled.arguments,
      runStartedAt: action.decidedAt ?? action.createdAt,
      earlierCalls: 0,
      maybeSent: false,
      permitted: true,
    },
    async (policy) => {
      isMarked = await markSending(database, action, policy);
      return isMarked;
    },
  );
  const end = endOf(call, isMarked);
  if (end === undefined) {
    signal.throwIfAborted();
    await persistently(() => postpone(database, action, started.attempt), signal);
    return 'waits';
  }
  return persistently(() => record(deps, action, end), signal);
}

/** An action, and the number of the workflow that sends it; an earlier workflow does nothing more. */
export interface StartedAction {
  readonly id: string;
  readonly attempt: number;
}

function findUnderWay(db: Db, { id, attempt }: StartedAction): Promise<Action | undefined> {
  return db.row<Action>`
    select ${actionColumns} from actions
    where id = ${id} and attempts = ${attempt} and state in ('approved', 'sending')
  `;
}

async function filledArguments(
  db: Db,
  { projectId, refersTo, arguments: args }: Action,
): Promise<{ readonly arguments?: JsonObject; readonly reason?: ActionReason }> {
  if (args === null) return { reason: 'content_erased' };
  if (refersTo.length === 0) return { arguments: args };
  const found = await findReferred(db, { projectId, refersTo });
  const isDone = found.length === refersTo.length && found.every(({ state }) => state === 'done');
  if (!isDone) return { reason: 'reference_ended' };
  const whole = withValues(args, new Map(found.map(({ id, structured }) => [id, structured])));
  return whole === undefined ? { reason: 'reference_missing' } : { arguments: whole };
}

async function markSending(db: Db, { id, projectId }: Action, policy: ToolPolicy): Promise<boolean> {
  const marked = await db.run`
    update actions set state = 'sending', sent_at = now(), start_at = now() + ${SENDING_LEASE}
    where id = ${id} and project_id = ${projectId} and state = 'approved' and ${policyUnchanged(policy)}
  `;
  return marked > 0;
}

/**
 * Lease of an action: longer than any call takes. After this lease, another process records that the outcome is
 * unknown.
 */
const SENDING_LEASE = sql`interval '10 minutes'`;

export interface ActionEnd {
  readonly state: Extract<ActionState, 'done' | 'failed' | 'outcome_unknown' | 'closed'>;
  readonly reason?: ActionReason;
  readonly errorMessage?: string;
  readonly isError?: boolean;
  readonly result?: string;
  readonly resultLength?: number;
  /** The data of the result, for actions that refer to it. */
  readonly structured?: unknown;
}

const UNKNOWN = 'Whether the call took effect is unknown; look at the system of the tool.';

export const LOST: ActionEnd = { state: 'outcome_unknown', errorMessage: UNKNOWN };

/**
 * Returns the end of an action by the result of its call; undefined if nothing was sent and a later attempt may send
 * it.
 * @param isMarked false if the call failed before it was marked as sent
 */
function endOf(call: MadeCall, isMarked: boolean): ActionEnd | undefined {
  switch (call.kind) {
    case 'answered':
      return answeredEnd(call);
    case 'failed': {
      const { error, secrets } = call;
      const said = error.serverMessage === undefined ? undefined : redact(error.serverMessage, secrets);
      const words = {
        errorMessage: sentence(error.message),
        ...(said !== undefined && { result: cut(said, SHOWN_LENGTH) }),
      };
      if (isMarked && error.isAnswer) return { state: 'failed', isError: true, ...words };
      // Do not repeat the call even if the tool allows it: one approval sends one call.
      return isMarked && error.mayHaveArrived ? { state: 'outcome_unknown', ...words } : undefined;
    }
    case 'refused':
      // Try again: the service or a person can renew an expired sign-in before the action expires.
      if (call.reason === 'connection_not_ready' || call.reason === 'connection_unusable') return undefined;
      return call.reason === 'tool_changed' || call.reason === 'tool_vanished'
        ? { state: 'closed', reason: 'tool_changed' }
        : { state: 'failed', reason: 'call_refused', errorMessage: sentence(call.why) };
    case 'maybe_sent':
    case 'overtaken':
      return undefined;
  }
}

function answeredEnd({ result, unusable, secrets }: Extract<MadeCall, { kind: 'answered' }>): ActionEnd {
  const { record: shown, text } = readResult(result, secrets);
  const failed = result.isError === true;
  const data = { result: shown.result ?? '', resultLength: shown.resultLength ?? 0 };
  if (failed) return { state: 'failed', isError: true, ...data, errorMessage: 'The tool answered with an error.' };
  if (unusable !== undefined) return { state: 'done', isError: false, ...data, errorMessage: sentence(unusable) };
  const { structuredContent } = result;
  const structured = parseJson(
    structuredContent === undefined ? text : redact(JSON.stringify(structuredContent), secrets),
  );
  return { state: 'done', isError: false, ...data, structured };
}

/** The longest result that other actions may refer to, in characters of JSON. */
const MAX_REFERRED_LENGTH = 256_000;

/** Records the end of an action and its consequences in one transaction; only the first end counts. */
export function record(
  deps: Pick<Core, 'database' | 'uiOrigin' | 'work'>,
  action: Pick<Action, 'id' | 'projectId'>,
  end: ActionEnd,
  only: Sql = sql`true`,
): Promise<SendOutcome> {
  const { id, projectId } = action;
  const json = end.structured === undefined ? null : storableJson(end.structured);
  return transaction(deps.database, async (tx) => {
    const recorded = await tx.run`
      update actions set state = ${end.state}, reason = ${end.reason ?? null}, start_at = null, finished_at = now(),
        error_message = ${end.errorMessage ?? null}, is_error = ${end.isError ?? null},
        result_length = ${end.resultLength ?? end.result?.length ?? null},
        -- The texts of its run may have been erased meanwhile.
        result = case when arguments is not null then ${end.result ?? null}::text end,
        structured = case when arguments is not null
          then ${json !== null && json.length <= MAX_REFERRED_LENGTH ? json : null}::jsonb end
      where id = ${id} and project_id = ${projectId} and state in ('approved', 'sending') and ${only}
    `;
    if (recorded === 0) return 'skipped';
    if (end.state !== 'done') await endReferring(deps, tx, [action]);
    await runAgain(tx, [action]);
    // Let the routine, and actions that refer to this action, continue.
    afterCommit(tx, () => ['actions', 'action_run'].forEach((name) => deps.work.nudge(name)));
    return end.state;
  });
}

async function postpone(db: Db, { id, projectId }: Action, attempt: number): Promise<void> {
  await db.run`
    update actions set state = 'approved', sent_at = null,
      error_message = 'The tool server cannot be reached; it is tried again.',
      start_at = now() + least(power(2, least(attempts, 10)) * interval '5 seconds', interval '10 minutes')
    where id = ${id} and project_id = ${projectId} and state in ('approved', 'sending') and attempts = ${attempt}
  `;
}
