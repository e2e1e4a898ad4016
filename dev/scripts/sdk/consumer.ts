/** A program that uses the installed SDK; `npm run check:sdk` compiles it and runs it on each platform. */
import { ConnectionError, Ras, webhooks, type Shape } from 'routine-automation-sdk';

const { body, headers } = webhooks.signForTest(
  {
    type: 'routine.paused',
    timestamp: '2026-11-25T07:00:00.000Z',
    data: { routineId: 'r', projectId: 'p', name: 'n', state: 'paused', reason: 'w', runId: null },
  },
  'whsec_c2VjcmV0IG9mIHRoZSBjaGVjayBvZiB0aGUgU0RL',
);
const event = webhooks.verify(body, headers, 'whsec_c2VjcmV0IG9mIHRoZSBjaGVjayBvZiB0aGUgU0RL');
if (event.type !== 'routine.paused' || event.data.name !== 'n') throw new Error('not verified');

const requests: string[] = [];
const stubbed = new Ras({
  apiKey: 'ras_1',
  baseUrl: 'http://127.0.0.1:9',
  fetch: async (url, init) => {
    requests.push(`${init?.method} ${new URL(url instanceof Request ? url.url : url).href}`);
    return new Response(JSON.stringify({ data: [{ id: 'run_1' }], requestId: 'req-1' }));
  },
});
const runs: Shape<'RunSummary'>[] = await stubbed.runs.list({ state: 'failed' }).toArray({ limit: 5 });
if (runs[0]?.id !== 'run_1' || requests[0] !== 'GET http://127.0.0.1:9/v1/runs?state=failed') {
  throw new Error(`no list: ${JSON.stringify([runs, requests])}`);
}

// Use the platform's own fetch, on a port without a listener.
const ras = new Ras({ apiKey: 'ras_1', baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
const error = await ras.models.list().catch((reason: unknown) => reason);
if (!(error instanceof ConnectionError)) throw error;
