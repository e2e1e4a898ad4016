import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SpawnChild } from './child.ts';
import { isListening } from './ports.ts';

/**
 * Starts the MCP project's reference tool server, so that the demo routine has a real tool to call.
 * @returns the address of its MCP endpoint
 */
export async function startToolServer(options: {
  port: number;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  spawn: SpawnChild;
}): Promise<string> {
  const { port } = options;
  const child = await options.spawn({
    name: 'Tools',
    command: process.execPath,
    args: [
      fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')),
      'streamableHttp',
    ],
    // It has a tool that shows its environment, where keys of models may be.
    env: { PATH: options.env['PATH'], PORT: String(port) },
    logFile: path.join(options.dataDir, 'tools.log'),
  });
  while (!(await isListening(port))) {
    if (child.exit() !== undefined) throw new Error('The demo tool server did not start.');
    await sleep(50);
  }
  return `http://127.0.0.1:${port}/mcp`;
}
