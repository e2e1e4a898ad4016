import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SpawnChild } from '../../stack/child.ts';
import { isListening } from '../../stack/ports.ts';

/**
 * Starts the mail catcher.
 * @returns the address of its page
 */
export async function startCatcher(options: {
  smtpPort: number;
  port: number;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  spawn: SpawnChild;
}): Promise<string> {
  const { smtpPort, port } = options;
  const child = await options.spawn({
    name: 'Mail',
    command: process.execPath,
    args: [fileURLToPath(new URL('main.ts', import.meta.url))],
    env: { ...options.env, MAIL_SMTP_PORT: String(smtpPort), MAIL_PORT: String(port) },
    logFile: path.join(options.dataDir, 'mail.log'),
  });
  while (!((await isListening(port)) && (await isListening(smtpPort)))) {
    if (child.exit() !== undefined) throw new Error('The mail catcher did not start.');
    await sleep(50);
  }
  return `http://localhost:${port}`;
}
