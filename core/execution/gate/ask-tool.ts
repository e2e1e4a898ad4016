import {
  callOnce,
  notReadOnly,
  policyUnchanged,
  readResult,
  readTarget,
  redact,
  type MadeCall,
  type ToolCallDeps,
  type ToolTarget,
} from '#core/integrations/tools/index.ts';
import type { Gate } from '#core/authoring/definition/index.ts';
import { sql } from '#lib/database/index.ts';
import { startDeadline } from '#lib/deadline.ts';
import { sentence } from '#lib/text.ts';
import {
  GATE_TIMEOUT_MS,
  gateFailed,
  MAX_GATE_BODY,
  TOO_LARGE,
  TOO_SLOW,
  type GateFault,
  type GateResponse,
} from './response.ts';

export interface AskingRun {
  readonly runId: string;
  readonly projectId: string;
  readonly routineId: string;
  /** Revision of the version that the run executes. */
  readonly revision: number;
  readonly startedAt: Date;
}

/**
 * Makes the tool call of a gate, by the rules for a model's calls. The tool must be read-only, because the call may be
 * repeated.
 * @throws the signal's reason, when it was aborted
 */
export async function askTool(
  deps: ToolCallDeps,
  run: AskingRun,
  tool: NonNullable<Gate['tool']>,
  signal: AbortSignal,
): Promise<GateResponse> {
  const target = await readTarget(deps.database, run, tool.policyId);
  const deadline = startDeadline(GATE_TIMEOUT_MS, signal);
  try {
    const made = await makeCall(deps, run, { ...tool, target }, deadline.signal);
    signal.throwIfAborted();
    const outcome = deadline.isOver() ? TOO_SLOW : made.outcome;
    const name = target?.policy.toolName ?? null;
    return { call: { tool: { policyId: tool.policyId, name }, url: null, status: null, sent: made.sent }, outcome };
  } finally {
    deadline.clear();
  }
}

type Asked = Pick<GateResponse, 'outcome'> & { readonly sent: boolean };

async function makeCall(
  deps: ToolCallDeps,
  run: AskingRun,
  wanted: NonNullable<Gate['tool']> & { readonly target: ToolTarget | undefined },
  signal: AbortSignal,
): Promise<Asked> {
  const { target } = wanted;
  const unfit = target && notReadOnly(target.policy);
  if (unfit !== undefined) return refused(unfit);
  let sent = false;
  const call = await callOnce(
    deps,
    { runId: run.runId, signal },
    { target, input: wanted.arguments, runStartedAt: run.startedAt, earlierCalls: 0, maybeSent: false },
    async (policy) => {
      const unchanged = sql`select 1 where ${policyUnchanged(policy)}`;
      sent = (await deps.database.row`${unchanged}`) !== undefined;
      return sent;
    },
  );
  switch (call.kind) {
    case 'answered':
      return { sent, outcome: answered(call) };
    case 'failed':
      return { sent, outcome: failed(call.error.message) };
    case 'refused':
      return refused(call.why);
    case 'maybe_sent':
    case 'overtaken':
      return refused('the tool or its confirmation changed while the gate asked the tool');
  }
}

function refused(why: string): Asked {
  return { sent: false, outcome: gateFailed('tool_refused', sentence(why)) };
}

function failed(why: string): GateFault {
  return gateFailed('tool_failed', sentence(why));
}

/**
 * Reads the value of a tool's result: its structured content, which is meant for programs, else its text, which may be
 * JSON as well.
 */
function answered({ result, unusable, secrets }: Extract<MadeCall, { kind: 'answered' }>): GateResponse['outcome'] {
  if (unusable !== undefined) return failed(unusable);
  if (result.isError === true) return failed('the tool answered with an error');
  const { structuredContent } = result;
  const text =
    structuredContent === undefined
      ? readResult(result, secrets).text
      : redact(JSON.stringify(structuredContent), secrets);
  if (Buffer.byteLength(text) > MAX_GATE_BODY) return TOO_LARGE;
  return { kind: 'body', text, etag: null };
}
