/** A CommonJS program that uses the installed SDK; `npm run check:sdk` compiles and runs it. */
import sdk = require('routine-automation-sdk');

const run: Pick<sdk.RunResult, 'id'> = { id: 'run_1' };
const ras = new sdk.Ras({
  apiKey: 'ras_1',
  baseUrl: 'http://127.0.0.1:9',
  fetch: async () => new Response(JSON.stringify({ data: run, requestId: 'req-1' })),
});

async function check(): Promise<void> {
  const { id } = await ras.runs.read(run.id);
  if (id !== run.id) throw new Error(`not read: ${id}`);
}

void check();
