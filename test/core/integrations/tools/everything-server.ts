import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import { freePort } from '#dev/stack/ports.ts';
import { PATIENCE_MS } from '#test/support/properties.ts';

export interface EverythingServer {
  /** Address of its MCP endpoint, Streamable HTTP. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts the reference tool server as a process of its own. */
export async function startEverythingServer(): Promise<EverythingServer> {
  const port = await freePort();
  const entry = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
  const child = spawn(process.execPath, [entry, 'streamableHttp'], {
    env: { PORT: String(port) },
    stdio: 'ignore',
  });
  await vi.waitFor(() => fetch(`http://127.0.0.1:${port}/`), { timeout: PATIENCE_MS, interval: 100 });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
