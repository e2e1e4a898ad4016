import { hasReference, MAX_OPEN_ACTIONS, recordHeldCall, withIds } from '#core/execution/actions/index.ts';
import type { Core } from '#core/core.ts';
import { judging, rules, type ToolPolicy, type ToolRecord } from '#core/integrations/tools/index.ts';
import { persistently, transaction, type Db } from '#lib/database/index.ts';
import { isJsonObject, type JsonObject } from '#lib/json.ts';
import { endOf, heldEnd } from './tool-step-end.ts';
import {
  confirmSending,
  recordToolStep,
  type Sending,
  type StepKey,
  type ToolStep,
  type ToolStepOutcome,
} from './tool-step-record.ts';

type HoldDeps = Pick<Core, 'database' | 'uiOrigin' | 'work'>;

/**
 * Finds the standing rule that lets a call of a held tool through without a person; undefined if the call is held. A
 * call that needs the result of another held call always waits.
 */
export async function ruleFor(db: Db, { tool, target }: ToolStep): Promise<rules.ToolRule | undefined> {
  if (target?.policy.state !== 'hold' || !isJsonObject(tool.input) || hasReference(tool.input)) return undefined;
  return rules.matchingRule(await rules.standingRules(db, target.policy), tool.input);
}

/** Refuses a call that is made at once but refers to an action of its run: the action has no result yet. */
export async function refusedReference(
  db: Db,
  key: StepKey,
  { tool, state }: ToolStep,
): Promise<judging.RefusedCall | undefined> {
  if (state !== 'pending' || !isJsonObject(tool.input) || !hasReference(tool.input)) return undefined;
  const { held } = await readBefore(db, key);
  return held.length === 0 ? undefined : judging.refused('reference_too_early');
}

/** Notes a call under a standing rule and counts it, in one transaction, before the call is sent. */
export async function confirmByRule(
  { database }: HoldDeps,
  sending: Sending,
  shown: Pick<ToolRecord, 'arguments' | 'argumentsLength'>,
  rule: rules.ToolRule,
): Promise<boolean> {
  const named = { ...shown, rule: { id: rule.id, words: rules.ruleInWords(rule) } };
  return transaction(database, async (tx) => {
    // Confirm the step first, because every statement of a run locks in this order.
    const isNoted = await confirmSending(tx, sending, named);
    if (isNoted && !(await rules.spendRule(tx, sending.policy, rule.id))) throw new RuleEnded();
    return isNoted;
  }).catch((error: unknown) => {
    if (error instanceof RuleEnded) return false;
    throw error;
  });
}

/** Rolls the note back, because another call has used the rule up meanwhile. */
class RuleEnded extends Error {}

/**
 * Holds a call for a person. The action and the end of the step are recorded together, so that a repeated step finds
 * its action. The model learns at once that the call waits, and the run continues.
 */
export async function holdToolStep(
  deps: HoldDeps,
  key: StepKey,
  step: ToolStep & { readonly target: NonNullable<ToolStep['target']> },
  signal: AbortSignal,
): Promise<ToolStepOutcome> {
  const { tool } = step;
  const before = await persistently(() => readBefore(deps.database, key), signal);
  const held = new Map(before.held.map(({ id, name }) => [name, id]));
  const call = await judgeHeld(step, held);
  return persistently(
    () =>
      transaction(deps.database, async (tx) => {
        if (!(await lockPending(tx, key, step.target.policy))) return 'skipped';
        const id =
          call.kind === 'refused'
            ? undefined
            : await recordHeldCall(deps, tx, { ...call, ...callOf(step, key, before) });
        const name = before.held.find((each) => each.id === id)?.name ?? `action_${held.size + 1}`;
        const end =
          id === undefined
            ? endOf(tool, call.kind === 'refused' ? call : judging.refused('too_many_held', MAX_OPEN_ACTIONS))
            : heldEnd(tool, { id, name });
        await recordToolStep(tx, key, end);
        return end.state;
      }),
    signal,
  );
}

/** The longest arguments of a held call, in characters of JSON. */
const MAX_ARGUMENTS_LENGTH = 64_000;

interface JudgedCall {
  readonly kind: 'held';
  readonly arguments: JsonObject;
  readonly refersTo: readonly string[];
}

async function judgeHeld(step: ToolStep, held: ReadonlyMap<string, string>): Promise<JudgedCall | judging.RefusedCall> {
  const { input } = step.tool;
  const referring = isJsonObject(input) ? withIds(input, held) : { arguments: {}, refersTo: [] };
  if ('fault' in referring) return judging.refused('reference_unknown', referring.fault);
  const wanted = {
    ...step,
    input: isJsonObject(input) ? referring.arguments : input,
    maybeSent: false,
    permitted: true,
  };
  const judged = await judging.judgeOnRecord(wanted, { hasPlaces: referring.refersTo.length > 0 });
  if (judged.kind === 'refused') return judged;
  if (JSON.stringify(referring.arguments).length > MAX_ARGUMENTS_LENGTH) {
    return judging.refused('arguments_too_long', MAX_ARGUMENTS_LENGTH);
  }
  return { kind: 'held', ...referring };
}

/** Earlier requests of a run, and the text that the model wrote with the call. */
interface Before {
  readonly held: readonly { readonly id: string; readonly name: string }[];
  readonly text: string | null;
}

async function readBefore(db: Db, { runId, index }: StepKey): Promise<Before> {
  const found = await db.row<Before>`
    select coalesce((select jsonb_agg(distinct s.tool -> 'action') from steps s
        where s.run_id = ${runId} and s.index < ${index} and s.kind = 'tool' and s.tool ? 'action'), '[]') as held,
      (select nullif(m.text, '') from steps m where m.run_id = ${runId} and m.index < ${index} and m.kind = 'model'
        order by m.index desc limit 1) as text
  `;
  return found ?? { held: [], text: null };
}

function callOf(
  { target: { policy, connection } }: { readonly target: NonNullable<ToolStep['target']> },
  { runId }: StepKey,
  { text: modelReason }: Before,
) {
  const { projectId, routineId, id: policyId, toolName, definitionHash } = policy;
  const connectionName = connection.name;
  return { projectId, routineId, runId, policyId, toolName, definitionHash, connection, connectionName, modelReason };
}

async function lockPending(tx: Db, { runId, index }: StepKey, { projectId }: ToolPolicy): Promise<boolean> {
  const pending = await tx.row`
    select 1 from steps s join runs r on r.id = s.run_id
    where s.run_id = ${runId} and s.index = ${index} and s.project_id = ${projectId} and s.state = 'pending'
      and r.state = 'running' for update of s
  `;
  return pending !== undefined;
}
