/** Runs in a sandbox at the start of the runtime and prints the barriers that work. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createConnection } from 'node:net';
import { spawnSync } from 'node:child_process';

const [socketPath = ''] = process.argv.slice(2);

const found = {
  'broker answers': await brokerAnswers(),
  // oxlint-disable-next-line node/no-process-env -- the probe checks that it is empty; bubblewrap sets PWD
  'environment is empty': Object.keys(process.env).every((name) => name === 'PWD'),
  'no network': await connectFails('1.1.1.1', 443),
  'no loopback': await connectFails('127.0.0.1', 22),
  'no /etc/passwd': fails(() => readFileSync('/etc/passwd')),
  'no /home': fails(() => readdirSync('/home')),
  'nothing of /usr but libraries': holdsOnly('/usr', ['bin', 'lib', 'lib64']),
  'no program but one': holdsOnly('/usr/bin', ['prlimit']),
  'no device that gives memory': holdsOnly('/dev', ['null', 'random', 'urandom']),
  'no /proc': fails(() => readFileSync('/proc/self/status')),
  'code is read-only': fails(() => writeFileSync('/app/probe', '')),
  'no shared memory': fails(() => writeFileSync('/dev/shm/probe', '')),
  'no processes': !runs('/usr/bin/prlimit') && !runs(process.execPath),
};
process.stdout.write(`${JSON.stringify(found)}\n`);

function fails(attempt: () => unknown): boolean {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}

function holdsOnly(folder: string, names: readonly string[]): boolean {
  try {
    return readdirSync(folder).every((name) => names.includes(name));
  } catch {
    return false;
  }
}

function runs(program: string): boolean {
  try {
    return spawnSync(program, ['--version']).status === 0;
  } catch {
    return false;
  }
}

function connectFails(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, timeout: 1_000 });
    const end = (failed: boolean) => {
      socket.destroy();
      resolve(failed);
    };
    socket.once('connect', () => end(false));
    // Even a refusal shows that packets leave the sandbox.
    socket.once('error', (error) => end(!('code' in error) || error.code !== 'ECONNREFUSED'));
    socket.once('timeout', () => end(false));
  });
}

function brokerAnswers(): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ socketPath, path: '/probe' }, (response) => {
      response.resume();
      resolve(response.statusCode === 403);
    });
    probe.once('error', () => resolve(false));
    probe.end();
  });
}
