/**
 * Entry of `npm run soak`: kills processes at random under load, far longer than the tests do, and prints the results.
 * `npm run soak -- --kills 500 --minutes 60 --seed 1`; ends with 1 if anything is wrong.
 */
import { parseArgs } from 'node:util';
import { chaos } from './faults/chaos.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '500' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    clients: { type: 'string', default: '4' },
  },
});

const begun = Date.now();
function minutes() {
  return ((Date.now() - begun) / 60_000).toFixed(1);
}

const report = await chaos({
  seed: Number(values.seed),
  kills: Number(values.kills),
  pauseMs: [300, 2_700],
  downMs: 3_000,
  clients: Number(values.clients),
  stuckMs: 360_000,
  maxKillingMs: Number(values.minutes) * 60_000,
  log: console.log,
  onKill: (_role, count) => {
    if (count % 50 === 0) console.log(`${count} kills after ${minutes()} minutes`);
  },
});
console.log(report.figures.join('\n'));
console.log(report.violations.length === 0 ? 'Nothing lost, nothing doubled.' : 'NOT AS IT MUST BE:');
for (const violation of report.violations) console.log(`  ${violation}`);
process.exitCode = report.violations.length === 0 ? 0 : 1;
