/**
 * Entry of `npm test`: runs every test beside `npm run check`, and fails where either does. With the name of a file or a
 * folder, as `npm test -- core/usage`, it runs these tests alone.
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
// Told at the end, so that it does not stand in the middle of the tests.
const fault = await checks;
if (fault !== '') console.error(`${fault}\nnpm run check has failed.`);
process.exitCode = vitest.exitCode === 0 && fault === '' ? 0 : 1;

/** Returns what the checks complain of; nothing where they pass. */
async function check(): Promise<string> {
  const output = { maxBuffer: 64 * 1024 * 1024 };
  return execute('npm', ['run', 'check'], output).then(
    () => '',
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => `${stdout}${stderr}`,
  );
}
