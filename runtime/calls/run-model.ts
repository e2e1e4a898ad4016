import { z } from 'zod';
import {
  CallFailure,
  failureCode,
  failureDetails,
  runResult,
  type FailureCode,
  type RunBody,
  type RunResult,
} from '#lib/envelope/index.ts';
import { parseJson } from '#lib/json.ts';
import { allowedRequests } from '#lib/provider-file/index.ts';
import type { SessionJob } from '../session/model.ts';
import type { Sessions } from '../sandbox/sessions.ts';
import type { ProviderCall } from '../provider/request-json.ts';

/** Silence of a model after which a step ends. */
const CONTENT_IDLE_MS = 120_000;

/** Failures that a session may report. A session is not trusted with the other failures of the closed list. */
const CLAIMABLE: ReadonlySet<FailureCode> = new Set([
  'malformed',
  'model_error',
  'rate_limited',
  'timeout',
  'usage_limit',
]);

const answer = z.union([
  z.strictObject({ result: runResult }),
  z.strictObject({ failure: z.strictObject({ code: failureCode, details: failureDetails }) }),
]);

/** Makes one model step in a session of its own. @throws {CallFailure} */
export async function runModel(call: ProviderCall, body: RunBody, sessions: Sessions): Promise<RunResult> {
  const { provider, signal } = call;
  const { api, limits } = provider.file;
  const allowed = allowedRequests(api);
  const job: SessionJob = {
    protocol: api.protocol,
    path: allowed.find(({ method }) => method === 'POST')?.path ?? '/',
    ...body,
    options: api.options,
    limits,
    idleMs: CONTENT_IDLE_MS,
  };
  const outcome = await sessions.run(JSON.stringify(job), { ...call, allowed });
  if (signal.aborted) throw signal.reason;
  // Prefer the broker's result to the session's.
  if (outcome.failure !== undefined) {
    throw new CallFailure(outcome.failure.code, outcome.failure.details);
  }
  if (outcome.output === undefined) throw new CallFailure('too_large');
  const said = answer.safeParse(parseJson(outcome.output)).data;
  if (said === undefined) throw new CallFailure('sandbox_failed');
  if ('result' in said) return said.result;
  const { code, details } = said.failure;
  throw CLAIMABLE.has(code) ? new CallFailure(code, details) : new CallFailure('sandbox_failed');
}
