/**
 * The baseline of runs with tools: activities that call a model and a tool server with the product's clients, and store
 * nothing.
 */
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { callerAt, callOf } from '#test/support/model-caller.ts';
import { BARE_TOOLS_TASK_QUEUE } from './client.ts';

const { TEMPORAL_ADDRESS = '', GATEWAY_URL = '', TOOLS_URL = '' } = process.env;
const caller = callerAt(GATEWAY_URL, { timeoutMs: 30_000 });
const tools = new Client({ name: 'bare', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await tools.connect(new StreamableHTTPClientTransport(new URL(TOOLS_URL)));

Runtime.install({ shutdownSignals: ['SIGINT', 'SIGTERM'] });
const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
const worker = await Worker.create({
  connection,
  taskQueue: BARE_TOOLS_TASK_QUEUE,
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  activities: {
    ask: async () => {
      await caller.call(callOf('fixture/writer-small', { instructions: 'Write one line.' }));
    },
    callTool: async (name: string) => {
      await tools.callTool({ name, arguments: {} });
    },
  },
  maxConcurrentActivityTaskExecutions: 50,
  maxConcurrentWorkflowTaskExecutions: 40,
});
await worker.run();
await connection.close();
await tools.close();
await caller.close();
