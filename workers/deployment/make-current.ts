/**
 * Entry: `npm run deploy:current -- BUILD` starts new runs on the workers of that build; `-- --unversioned` on workers
 * without a build. To take a release back, name the previous build. Exits with 1 and changes nothing if no such worker
 * appears within two minutes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { workersOfBuild } from '#core/execution/admission/index.ts';
import { setCurrentBuild } from '#lib/temporal/index.ts';
import { openDeployment, readBuilds, type Deployment } from './builds.ts';

const WAIT_MS = 120_000;
const PAUSE_MS = 500;

const [wanted, ...more] = process.argv.slice(2);
if (wanted === undefined || more.length > 0 || /^-(?!-unversioned$)/.test(wanted)) {
  console.error('Usage: npm run deploy:current -- <build> | --unversioned');
  process.exit(2);
}
const buildId = wanted === '--unversioned' ? undefined : wanted;
const title = buildId === undefined ? 'workers without a build' : `build ${buildId}`;

const deployment = await openDeployment();
try {
  await makeCurrent(deployment, Date.now() + WAIT_MS);
} catch (err) {
  console.error(err instanceof Error ? err.message : err);
  process.exitCode = 1;
} finally {
  await deployment.close();
}
process.exit();

async function makeCurrent(deployment: Deployment, end: number): Promise<void> {
  const { client, database, name, taskQueue } = deployment;
  const former = (await readBuilds(deployment)).find(({ state }) => state === 'current')?.buildId;
  console.log(`Deployment ${name}, current: ${former ?? 'workers without a build'}.`);
  const workers = () => workersOfBuild(database, taskQueue, buildId ?? null);

  await until(async () => (await workers()).live > 0, {
    waiting: `Waiting for ${title} to announce workers …`,
    failed: `${title} has no worker. Nothing was changed.`,
    end,
  });
  let refusal = '';
  await until(
    async () => {
      try {
        await setCurrentBuild(client, name, buildId);
        return true;
      } catch (err) {
        if (!isGrpcServiceError(err) || !NOT_YET.has(err.code)) throw err;
        refusal = err.details;
        return false;
      }
    },
    {
      waiting: `Waiting until ${title} polls all task queues …`,
      failed: () => `Temporal refuses ${title}: ${refusal}. Nothing was changed.`,
      end,
    },
  );
  await until(async () => (await workers()).takingRuns > 0, {
    waiting: `Current now: ${title}. Waiting until its workers take new runs …`,
    failed: `The workers of ${title} do not take runs yet; their logs say why.`,
    end: Date.now() + WAIT_MS,
  });
  console.log(`New runs start on ${title}.`);
  if (former === undefined || former === buildId) return;
  const { openRuns = 0, openWorkflows = 0 } =
    (await readBuilds(deployment)).find((build) => build.buildId === former) ?? {};
  console.log(
    `Build ${former} ends ${openRuns} open runs (${openWorkflows} workflows). Keep its workers until ` +
      `\`npm run deploy:status -- ${former}\` says that it is drained.`,
  );
}

/** NOT_FOUND, FAILED_PRECONDITION: the server has not seen the build poll yet, or not on every task queue. */
const NOT_YET: ReadonlySet<number> = new Set([5, 9]);

async function until(
  done: () => Promise<boolean>,
  words: { waiting: string; failed: string | (() => string); end: number },
): Promise<void> {
  for (let said = false; !(await done()); said = true) {
    if (!said) console.log(words.waiting);
    if (Date.now() > words.end) {
      throw new Error(typeof words.failed === 'string' ? words.failed : words.failed());
    }
    await sleep(PAUSE_MS);
  }
}
