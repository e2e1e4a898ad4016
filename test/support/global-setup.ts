import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { superviseChildren } from '#dev/children.ts';
import { freePort } from '#dev/ports.ts';
import { startPostgres } from '#dev/postgres.ts';
import { ensureTemporalBinary } from '#dev/temporal/binary.ts';
import { startTemporal } from '#dev/temporal/server.ts';
import { migrate } from '#migrations/migrate.ts';
import { workflowBundle } from '#workers/workflow-bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's address of the server's maintenance database. */
    readonly postgresAdminUrl: string;
    /** The migrated database that each file's own is copied from. */
    readonly templateDatabase: string;
    readonly temporalAddress: string;
  }
}

/** Starts one Postgres and one Temporal server for all files of a test run; gone with it, however it ends. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'ras-test-'));
  const log = (message: string) => console.log(`  ${message}`);
  const children = await superviseChildren({ dataDir, log: () => undefined });
  const { spawn, guard } = children;
  const stop = async () => {
    await children.stopAll();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const [postgres, temporal] = await Promise.all([
      startPostgres({
        dataDir: path.join(dataDir, 'postgres'),
        port: await freePort(),
        log: () => undefined,
        spawn,
        settings: { fsync: 'off', synchronous_commit: 'off', max_connections: '300' },
      }),
      ensureTemporalBinary({ env: process.env, onProgress: log, guard }).then(
        async ({ path: binary }) =>
          startTemporal({
            binary,
            dataDir: path.join(dataDir, 'temporal'),
            port: await freePort(),
            uiPort: null,
            log: () => undefined,
            spawn,
          }),
      ),
      // Bundled once here, so that files which start a worker at the same time find it.
      workflowBundle(),
    ]);
    await migrate(postgres.url);
    project.provide('postgresAdminUrl', postgres.adminUrl);
    project.provide('templateDatabase', new URL(postgres.url).pathname.slice(1));
    project.provide('temporalAddress', temporal.address);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
