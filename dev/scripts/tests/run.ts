/**
 * Entry of `npm test`: runs all tests while `npm run check` runs, and fails if either fails. With a file or folder, as
 * in `npm test -- core/usage`, it runs only those tests.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const given = process.argv.slice(2);
const isWhole = given.every((each) => each.startsWith('-'));
const checks = isWhole ? check() : Promise.resolve('');
const vitest = spawn('vitest', ['run', ...given], { stdio: 'inherit' });
await once(vitest, 'close');
// Print the faults at the end, so that they do not interrupt the output of the tests.
const fault = await checks;
if (fault !== '') console.error(`${fault}\nnpm run check has failed.`);
process.exitCode = vitest.exitCode === 0 && fault === '' ? 0 : 1;

/** Returns the faults that the checks print; empty when they pass. */
async function check(): Promise<string> {
  const output = { maxBuffer: 64 * 1024 * 1024 };
  return execute('npm', ['run', 'check'], output).then(
    () => '',
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => `${stdout}${stderr}`,
  );
}
