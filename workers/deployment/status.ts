/**
 * Entry: `npm run deploy:status` lists the builds with their open runs and workflows. With the name of a build it exits
 * with 0 once that build is drained, so that its workers may be stopped.
 */
import { openDeployment, readBuilds, type BuildStatus } from './builds.ts';

const [wanted] = process.argv.slice(2);
const deployment = await openDeployment();
try {
  const builds = await readBuilds(deployment);
  console.log(`Deployment ${deployment.name}${builds.length === 0 ? ' has no builds.' : ''}`);
  if (builds.length > 0) console.log(table(builds));
  const stranded = builds.filter(({ workers, ...open }) => workers === 0 && open.openRuns + open.openWorkflows > 0);
  for (const { buildId, openRuns, openWorkflows } of stranded) {
    console.log(
      `Build ${buildId} has ${openRuns} open runs (${openWorkflows} workflows) and no worker: start workers of it again.`,
    );
  }
  if (wanted !== undefined) {
    const found = builds.find(({ buildId }) => buildId === wanted);
    // Count an unknown build as drained, because Temporal forgets builds that were drained long ago.
    const isDrained = found === undefined || found.state === 'drained';
    console.log(`Build ${wanted} is ${isDrained ? 'drained: its workers can be stopped' : found.state}.`);
    process.exitCode = isDrained ? 0 : 1;
  }
} finally {
  await deployment.close();
}
process.exit();

function table(builds: readonly BuildStatus[]): string {
  const lines = [
    ['BUILD', 'STATE', 'WORKERS', 'OPEN RUNS', 'OPEN WORKFLOWS'],
    ...builds.map(({ buildId, state, workers, openRuns, openWorkflows }) =>
      [buildId, state, workers, openRuns, openWorkflows].map(String),
    ),
  ];
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}
