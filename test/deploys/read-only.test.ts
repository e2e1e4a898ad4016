import { afterAll, beforeAll, expect, test } from 'vitest';
import { HAS_BUBBLEWRAP, WHY_SKIPPED } from '#test/runtime/bubblewrap.ts';
import { checkOut, type Checkout } from '#test/support/checkout.ts';
import type { ApiClient } from '#test/support/client.ts';
import { startNode } from '#test/support/node-process.ts';
import { signUp } from '#test/support/people.ts';
import { FULL_SIZE } from '#test/support/properties.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { workerProcesses, type WorkerProcesses } from '#test/support/worker-process.ts';

let service: Service;
let workers: WorkerProcesses;
let key: ApiClient;
let release: Checkout;

beforeAll(async () => {
  service = await startService();
  workers = workerProcesses(service);
  key = await (await signUp(service)).key();
  release = await checkOut();
  // Make the sources differ from this checkout's, so that the release cannot use this checkout's bundle.
  await release.change('workflows/index.ts', "'./run.ts';", "'./run.ts'; // of this release");
});
afterAll(async () => {
  await workers.close();
  await service.close();
  await release.remove();
});

/** Runs a command with all files readable, and none writable. */
const READ_ONLY = ['bwrap', '--die-with-parent', '--ro-bind', '/', '/', '--dev', '/dev'];

/** Performs a run on read-only files and returns the worker's output. */
async function workOnReadOnlyFiles(...more: string[]): Promise<string> {
  const wrap = [...READ_ONLY, ...more, '--'];
  const worker = await workers.start({}, { cwd: release.folder, wrap });
  expect((await runOnce(key, await createRoutine(key))).state).toBe('succeeded');
  // The sandbox forwards no signal, so kill it; its process ends with it.
  await worker.end('SIGKILL');
  return worker.output();
}

test.skipIf(!HAS_BUBBLEWRAP)(
  `a worker whose bundle was built ahead works where nothing can be written${WHY_SKIPPED}`,
  async () => {
    const building = startNode('workers/build.ts', {}, { cwd: release.folder });
    expect([await building.exited, building.output()]).toEqual([
      0,
      expect.stringMatching(/dist\/workflow-bundle\.[0-9a-f]{24}\.js/),
    ]);
    expect(await workOnReadOnlyFiles()).not.toMatch(/workflow bundle/);
  },
  120_000,
);

test.skipIf(!HAS_BUBBLEWRAP || !FULL_SIZE)(
  `a bundle of other sources is not used: the worker says so, and bundles again or ends${WHY_SKIPPED}`,
  async () => {
    await release.change('workflows/index.ts', '// of this release', '// of a later one');
    const stale = 'the workflow bundle in dist/ was built from other sources and is not used';
    const refused = workers.launch({}, { cwd: release.folder, wrap: [...READ_ONLY, '--'] });
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toContain(stale);
    expect(refused.output()).toContain('cannot be bundled here; bundle it beforehand with npm run build');

    // Only the temporary folder is writable. Either checkout may be inside it.
    const shown = [process.cwd(), release.folder].flatMap((folder) => ['--ro-bind', folder, folder]);
    const output = await workOnReadOnlyFiles('--tmpfs', '/tmp', ...shown);
    expect(output).toContain(stale);
    expect(output).toContain('the workflow bundle cannot be kept');
  },
  120_000,
);
