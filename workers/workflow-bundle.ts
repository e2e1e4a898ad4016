import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Log } from '#lib/log.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const BUILT = `${ROOT}dist`;
const CACHE = `${ROOT}node_modules/.cache/workflow-bundles`;

/**
 * Returns the workflow code as one script for the sandbox, bundled from the sources. Bundling takes seconds, so an
 * existing bundle is used if its name has the hash of all its sources. If nothing can be written, the new bundle stays
 * in memory.
 */
export async function workflowBundle(log?: Pick<Log, 'warn'>): Promise<WorkflowBundleOption> {
  const name = await bundleName();
  const built = await bundlesIn(BUILT);
  if (built.includes(name)) return { codePath: `${BUILT}/${name}` };
  if (built.length > 0) {
    log?.warn(
      { built, needed: name },
      'the workflow bundle in dist/ was built from other sources and is not used; npm run build makes a new one',
    );
  }
  if ((await bundlesIn(CACHE)).includes(name)) return { codePath: `${CACHE}/${name}` };
  const code = await bundle();
  try {
    return { codePath: await keep(CACHE, name, code) };
  } catch (err) {
    log?.warn({ err }, 'the workflow bundle cannot be kept, so each start makes it again');
    return { code };
  }
}

/** Bundles the workflow code for processes that cannot write. @returns path of the bundle, alone in its folder */
export async function buildWorkflowBundle(): Promise<string> {
  const name = await bundleName();
  const path = await keep(BUILT, name, await bundle());
  const others = (await bundlesIn(BUILT)).filter((other) => other !== name);
  await Promise.all(others.map((other) => rm(`${BUILT}/${other}`, { force: true })));
  return path;
}

async function bundlesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => []);
  return files.filter((file) => /^workflow-bundle\.[0-9a-f]+\.js$/.test(file));
}

/** @throws when the sources cannot be compiled, or the compiler finds no temporary folder that it may write to */
async function bundle(): Promise<string> {
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: `${ROOT}workflows/index.ts`,
      workflowInterceptorModules: [`${ROOT}workflows/tracing.ts`],
      logger: silent,
    });
    return code;
  } catch (cause) {
    const message = 'the workflow code cannot be bundled here; bundle it beforehand with npm run build';
    throw new Error(message, { cause });
  }
}

/** Processes that start together may each write the file. A rename keeps each write whole. */
async function keep(folder: string, name: string, code: string): Promise<string> {
  const path = `${folder}/${name}`;
  await mkdir(folder, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, code);
  await rename(draft, path);
  return path;
}

async function bundleName(): Promise<string> {
  const hash = createHash('sha256');
  const folders = ['workflows', 'lib', 'lib/temporal'];
  for (const folder of folders) {
    const files = (await readdir(`${ROOT}${folder}`)).filter((file) => file.endsWith('.ts'));
    for (const file of files.toSorted()) {
      hash.update(`${folder}/${file}\0`).update(await readFile(`${ROOT}${folder}/${file}`));
    }
  }
  // This file is hashed too, because it has the options of the bundler.
  hash.update(await readFile(fileURLToPath(import.meta.url)));
  const lock = await readFile(`${ROOT}package-lock.json`).catch(() => Buffer.alloc(0));
  return `workflow-bundle.${hash.update(lock).digest('hex').slice(0, 24)}.js`;
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
