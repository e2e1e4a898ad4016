import type { Core } from '#core/core.ts';
import { MAX_CARRIED_LENGTH, type Gate } from '#core/authoring/definition/index.ts';
import type { ToolCallDeps } from '#core/integrations/tools/index.ts';
import { now } from '#lib/clock.ts';
import { cut } from '#lib/text.ts';
import { askTool, type AskingRun } from './ask-tool.ts';
import { askUrl } from './ask-url.ts';
import {
  conditionalTag,
  decideGate,
  type GateQuestion,
  type Seen,
  type GateVerdict,
  type SeenValue,
} from './decide.ts';
import { readValue, type GateValue, type GateFault, type GateResponse } from './response.ts';

/**
 * Asks a gate and decides whether to wake the model, without writing. @throws the signal's reason, when it was aborted
 */
export async function askGate(
  deps: ToolCallDeps & Pick<Core, 'outbound'>,
  run: AskingRun,
  gate: Gate,
  question: Omit<GateQuestion, 'gate'>,
  signal: AbortSignal,
): Promise<{ readonly wakes: boolean; readonly verdict: GateVerdict }> {
  const asked = { ...question, gate };
  const at = new Date(now()).toISOString();
  const { call, outcome } = await send(deps, run, asked, signal);
  const read = outcome.kind === 'body' ? readValue(outcome.text, gate.pointers) : outcome;
  const { wakes, reason, changed } = decideGate(asked, seenIn(read));
  const verdict: GateVerdict = {
    at,
    call,
    changed,
    failed: read.kind === 'failed',
    reason,
    error: read.kind === 'failed' ? read.error : null,
    value: read.kind === 'value' ? cut(read.text, MAX_CARRIED_LENGTH) : null,
    valueLength: read.kind === 'value' ? read.text.length : null,
    seen: toKeep(read, outcome, question.baseline),
  };
  return { wakes, verdict };
}

function send(
  deps: ToolCallDeps & Pick<Core, 'outbound'>,
  run: AskingRun,
  question: GateQuestion & { readonly gate: Gate },
  signal: AbortSignal,
): Promise<GateResponse> {
  const { url, tool } = question.gate;
  if (tool !== null) return askTool(deps, run, tool, signal);
  return askUrl(deps.outbound, { url: url ?? '', etag: conditionalTag(question), signal });
}

type Read = GateValue | GateFault | { readonly kind: 'not_modified' };

function seenIn(read: Read): Seen {
  if (read.kind === 'failed') return { failed: read.reason };
  return read.kind === 'not_modified' ? 'not_modified' : read;
}

function toKeep(read: Read, outcome: GateResponse['outcome'], baseline: SeenValue | undefined): SeenValue | null {
  if (read.kind === 'failed') return null;
  const kept = read.kind === 'not_modified' ? baseline : read;
  if (kept === undefined) return null;
  const etag = outcome.kind === 'body' ? outcome.etag : (baseline?.etag ?? null);
  return { hash: kept.hash, isEmpty: kept.isEmpty, etag };
}
