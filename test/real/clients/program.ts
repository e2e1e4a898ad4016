/** Creates a routine, runs it and reads the run, by the client that hey-api made. */
import { createRoutine, listRoutines, readRun, runRoutine } from './client';
import { client } from './client/client.gen';

declare const process: { env: Record<string, string | undefined> };

async function main(): Promise<void> {
  client.setConfig({ baseUrl: process.env['RAS_API_URL'], auth: process.env['RAS_API_KEY'] });
  const created = await createRoutine({
    throwOnError: true,
    body: {
      name: 'From TypeScript',
      instructions: 'Write one line.',
      schedule: '0 7 * * *',
      model: { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-small' },
      gate: { url: 'https://example.com/feed.json' },
    },
  });
  const routineId = created.data.data.id;
  const begun = await runRoutine({ throwOnError: true, path: { routineId }, body: {} });
  const wait = { Prefer: 'wait=50' };
  const read = await readRun({ throwOnError: true, path: { runId: begun.data.data.id }, headers: wait });
  const page = await listRoutines({ throwOnError: true, query: { limit: 1, page: 'body' } });
  const missing = await readRun({ path: { runId: 'run_01kx3k9y6wfd8r0v5m2c7t4q5d' } });
  console.log(read.data.data.state, page.data.data[0]?.name, missing.error?.error.code);
}

void main();
