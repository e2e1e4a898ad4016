import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const CACHE = `${ROOT}node_modules/.cache/workflow-bundles`;

/**
 * Bundles the workflow code into one script for the sandbox. That takes seconds, so the result is cached under a hash of
 * everything that goes into it. Processes that start together may each write the file; a rename makes each write whole.
 */
export async function workflowBundle(): Promise<{ codePath: string }> {
  const codePath = `${CACHE}/${await fingerprint()}.js`;
  const cached = await readFile(codePath).catch(() => undefined);
  if (cached === undefined) {
    const { code } = await bundleWorkflowCode({
      workflowsPath: `${ROOT}workflows/index.ts`,
      workflowInterceptorModules: [`${ROOT}workflows/tracing.ts`],
      logger: silent,
    });
    await mkdir(CACHE, { recursive: true });
    const draft = `${codePath}.${process.pid}`;
    await writeFile(draft, code);
    await rename(draft, codePath);
  }
  return { codePath };
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const folders = ['workflows', 'lib', 'lib/temporal'];
  for (const folder of folders) {
    const files = (await readdir(`${ROOT}${folder}`)).filter((file) => file.endsWith('.ts'));
    for (const file of files.toSorted()) {
      hash.update(`${folder}/${file}\0`).update(await readFile(`${ROOT}${folder}/${file}`));
    }
  }
  // The options of the bundler are in this file.
  hash.update(await readFile(fileURLToPath(import.meta.url)));
  const lock = await readFile(`${ROOT}package-lock.json`).catch(() => Buffer.alloc(0));
  return hash.update(lock).digest('hex').slice(0, 24);
}

function ignore() {
  return undefined;
}
const silent = {
  log: ignore,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};
