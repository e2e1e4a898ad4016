import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient, type Answer } from '#test/support/client.ts';
import { anyRoutine, type Ledger } from './ledger.ts';
import { between } from './random.ts';

export interface RunClient {
  readonly apiUrls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly ledger: Ledger;
  readonly random: () => number;
}

/**
 * Behaves like a good client: starts one run after another, each with its own key, and repeats a request until it gets
 * a response. Sometimes sends a request twice, sometimes cancels. Starts nothing new when `signal` aborts, and returns
 * after the last response.
 */
export async function startRuns(client: RunClient, signal: AbortSignal): Promise<void> {
  const { ledger, random } = client;
  while (!signal.aborted) {
    const path = `/v1/routines/${anyRoutine(ledger, random)}/run`;
    const key = randomUUID();
    const start = () => untilAnswered(client, path, { 'Idempotency-Key': key });
    const { id } = (await start()).data;
    ledger.accepted.push({ id, key });
    if (random() < 0.2) {
      const again = (await start()).data.id;
      if (again !== id) ledger.wrongAnswers.push(`one key gave runs ${id} and ${again}`);
    }
    if (random() < 0.08) {
      await sleep(between(random, 0, 1_000));
      await untilAnswered(client, `/v1/runs/${id}/cancel`, {});
    }
    await sleep(between(random, 100, 500));
  }
}

/** Sends a request to any API again and again until one gives a final response. */
async function untilAnswered(
  { apiUrls, headers, ledger, random }: RunClient,
  path: string,
  extra: Readonly<Record<string, string>>,
): Promise<Answer> {
  for (;;) {
    const url = apiUrls[Math.floor(random() * apiUrls.length)]!;
    const answer = await new ApiClient(url, { ...headers, ...extra }).post(path).catch(() => undefined);
    const outcome = answer === undefined ? NO_ANSWER : `${answer.status} ${answer.body?.error?.code ?? ''}`.trim();
    if (answer !== undefined && FINAL.has(outcome)) return answer;
    ledger.refusals.set(outcome, (ledger.refusals.get(outcome) ?? 0) + 1);
    if (!MAY_COME_AGAIN.has(outcome)) ledger.wrongAnswers.push(`POST ${path} answered ${outcome}`);
    await sleep(between(random, 200, 600));
  }
}

const NO_ANSWER = 'no answer';
const FINAL = new Set(['202', '409 run_not_cancellable']);

/** Responses that a client may get while parts of the service are down. All others break the contract. */
const MAY_COME_AGAIN = new Set([NO_ANSWER, '409 idempotency_in_progress', '503 service_unavailable']);
