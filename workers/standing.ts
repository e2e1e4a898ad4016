import type { NativeConnection } from '@temporalio/worker';
import type { Log } from '#lib/log.ts';
import { currentBuildOf, type Build } from '#lib/temporal/index.ts';

/** Tells whether new runs reach this worker, as Temporal last reported. */
export interface Standing {
  /**
   * Asks Temporal whether new runs start on workers of this build. While Temporal is down, the last response counts.
   */
  refresh(): Promise<boolean>;
  takesRuns(): boolean;
}

const DEADLINE_MS = 2_000;

/** Follows the current build. A worker without a build takes new runs while no build is current. */
export function followStanding(settings: {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly build: Build | undefined;
  readonly log: Log;
}): Standing {
  const { connection, build, log } = settings;
  let known: boolean | undefined;

  async function ask(): Promise<boolean> {
    const current = await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      currentBuildOf(connection.workflowService, settings),
    );
    return build === undefined
      ? current === undefined
      : current?.buildId === build.buildId && current.deploymentName === build.deploymentName;
  }

  return {
    takesRuns: () => known ?? build === undefined,
    async refresh() {
      const before = known;
      try {
        known = await ask();
      } catch (err) {
        log.warn({ err }, 'Temporal does not say which build is current');
      }
      if (known !== undefined && known !== before) report(log, { build, known, before });
      return this.takesRuns();
    },
  };
}

function report(log: Log, found: { build: Build | undefined; known: boolean; before: boolean | undefined }): void {
  const { build, known, before } = found;
  if (known) {
    if (build !== undefined) log.info({ build }, 'this build is current: new runs start on it');
    else if (before === false) log.info('no build is current: new runs start on this worker');
  } else if (build === undefined) {
    log.warn('another build is current and this worker has no WORKER_BUILD_ID, so it gets no runs');
  } else {
    log.warn(
      { build },
      'this build is not current: it only finishes runs that began on it, until npm run deploy:current makes it current',
    );
  }
}
