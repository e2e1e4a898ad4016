import type { Ras, Shape } from 'routine-automation-sdk';
import { fieldsOf } from '../failure.ts';

/** Outcome of the proof of one routine. */
export interface Proof {
  readonly key: string;
  readonly id: string;
  readonly result: 'activated' | 'failed' | 'not_run';
  readonly runId: string | null;
  readonly costUsd: number | null;
  readonly message: string | null;
}

interface Options {
  /** US dollars for all runs together; undefined for no limit but the budgets of the service. */
  readonly maxCost: number | undefined;
  readonly signal: AbortSignal;
  /** Prints a line of progress. */
  readonly say: (line: string) => void;
  /** Returns the address of a page of the dashboard. */
  readonly pageOf: (path: string) => string;
}

interface Candidate {
  readonly key: string;
  readonly id: string;
}

/**
 * Proves each draft, and each active routine whose skills have newer texts: runs the routine once, and activates it if
 * the run succeeded. A routine with a proof is activated without a run. A run whose forecast exceeds the rest of
 * `maxCost` is not started.
 */
export async function proveAll(ras: Ras, candidates: readonly Candidate[], options: Options): Promise<Proof[]> {
  const proofs: Proof[] = [];
  let spent = 0;
  for (const candidate of candidates) {
    options.signal.throwIfAborted();
    const { signal } = options;
    const { state, activation, skillsBehind } = await ras.routines.read(candidate.id, { signal });
    const isDraft = state === 'draft';
    if (!isDraft && skillsBehind.length === 0) continue;
    const isProven = isDraft ? activation.ready : skillsBehind.every(({ proven, newest }) => proven === newest);
    const proof = isProven
      ? await activate(ras, candidate, { runId: null, costUsd: null })
      : await prove(ras, candidate, spent, options);
    spent += proof.costUsd ?? 0;
    proofs.push(proof);
    const cost = proof.costUsd === null ? '' : `  ($${proof.costUsd.toFixed(4)})`;
    const why = proof.message === null ? '' : `: ${proof.message}`;
    options.say(`${proof.key}: ${proof.result}${why}${cost}`);
  }
  return proofs;
}

async function prove(
  ras: Ras,
  { key, id }: Candidate,
  spent: number,
  { maxCost, signal, say, pageOf }: Options,
): Promise<Proof> {
  const notRun = (message: string): Proof => ({
    key,
    id,
    result: 'not_run',
    runId: null,
    costUsd: null,
    message,
  });
  const waiting = await toolsWaiting(ras, id, signal);
  if (waiting.length > 0) {
    say(
      `${key}: not confirmed: ${waiting.slice(0, 10).join(', ')}${waiting.length > 10 ? ` and ${waiting.length - 10} more` : ''}. Only a person can: ${pageOf(`/routines/${id}`)}`,
    );
  }
  if (maxCost !== undefined) {
    const { perRun } = await ras.routines.forecast(id, { signal });
    const { costUsd } = perRun.p95;
    if (costUsd === null) return notRun('its model has no price, so --max-cost cannot hold');
    if (spent + Number(costUsd) > maxCost) {
      const basis = perRun.basis === 'limits' ? 'by its limits' : 'by its runs so far';
      const [most, left] = [Number(costUsd).toFixed(4), (maxCost - spent).toFixed(4)];
      return notRun(`a run may cost $${most} ${basis}, and $${left} of --max-cost are left`);
    }
  }
  const started = await ras.routines.run(id, {}, { signal });
  say(`${key}: run ${started.id}`);
  for await (const { event, data } of ras.runs.follow(started.id, { signal })) {
    if (event === 'state') say(`${key}: ${data.state}`);
    else say(`${key}: step ${data.index + 1}`);
  }
  const run = await ras.runs.read(started.id, { signal });
  const costUsd = run.usage.costUsd === null ? null : Number(run.usage.costUsd);
  if (run.state !== 'succeeded') {
    const why = [run.reason, run.errorMessage].filter((part) => part !== null).join(': ');
    const message = `the run ended ${run.state}${why === '' ? '' : `, ${why}`}; ${pageOf(`/runs/${run.id}`)}`;
    return { key, id, result: 'failed', runId: run.id, costUsd, message };
  }
  if (run.warnings.length > 0) {
    const message = `the run is no proof: ${run.warnings.join(', ')}; ${pageOf(`/runs/${run.id}`)}`;
    return { key, id, result: 'failed', runId: run.id, costUsd, message };
  }
  return activate(ras, { key, id }, { runId: run.id, costUsd });
}

async function activate(ras: Ras, { key, id }: Candidate, run: Pick<Proof, 'runId' | 'costUsd'>): Promise<Proof> {
  try {
    const { warnings } = await ras.routines.activate(id);
    const message = warnings.map((warning) => warning.message).join(' ');
    return { key, id, result: 'activated', ...run, message: message === '' ? null : message };
  } catch (error) {
    const { status, message } = fieldsOf(error);
    if (status !== 409 && status !== 402) throw error;
    return { key, id, result: 'failed', ...run, message: String(message) };
  }
}

/** Lists the tools that a person must confirm before runs may call them; none if the key may not read tools. */
async function toolsWaiting(ras: Ras, routineId: string, signal: AbortSignal): Promise<string[]> {
  const waiting: string[] = [];
  try {
    for await (const tool of ras.tools.list(routineId, {}, { signal })) {
      if (isWaiting(tool)) waiting.push(tool.name);
    }
  } catch (error) {
    if (fieldsOf(error)['code'] !== 'insufficient_scope') throw error;
  }
  return waiting;
}

function isWaiting(tool: Shape<'ToolPolicy'>): boolean {
  if (tool.vanishedAt !== null) return false;
  return tool.state === 'automatic' ? tool.confirmedHash !== tool.definitionHash : tool.confirmedAt === null;
}
