import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { installOnce, requireCommands } from './install.ts';
import { openServers, type Servers } from './servers.ts';

const PYTHON = ['openapi-python-client==0.29.1', 'mypy==2.4.1'];
const SDK_TOOLS = ['openapi-python-client==0.29.1', 'build==1.6.1'];
const GO = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
const NPM = ['@hey-api/openapi-ts@0.95.0', 'typescript@5.9.3'];
const PROGRAMS = path.join(import.meta.dirname, 'clients');
const SDK = path.join(import.meta.dirname, '../../sdk/python');

let service: Service;
let servers: Servers;
let env: Record<string, string | undefined>;

beforeAll(async () => {
  await requireCommands('python3', 'go', 'npm');
  servers = await openServers();
  service = await startService({ worker: true });
  const key = await (await signUp(service)).key();
  const apiKey = key.headers['Authorization']?.slice('Bearer '.length);
  env = { ...process.env, RAS_API_URL: service.url, RAS_API_KEY: apiKey };
  const document = await fetch(`${service.url}/v1/openapi.json?for=keys`);
  await writeFile(path.join(servers.folder, 'openapi.json'), await document.text());
});
afterAll(async () => {
  await service?.close();
  await servers?.close();
});

test('a client of openapi-python-client is typed, creates, runs and reads', async () => {
  const tools = await installOnce('python-clients-1', async (run, folder) => {
    await run('python3', '-m', 'venv', folder);
    await run(path.join(folder, 'bin/pip'), 'install', '--quiet', ...PYTHON);
  });
  const folder = await folderOf('python');
  const bin = (name: string) => path.join(tools, 'bin', name);
  await writeFile(path.join(folder, 'config.yaml'), 'package_name_override: ras_generated\npost_hooks: []\n');
  const options = ['--path', '../openapi.json', '--meta', 'none', '--output-path', 'ras_generated'];
  const made = await run(folder, bin('openapi-python-client'), ['generate', ...options, '--config', 'config.yaml']);
  expect(made).not.toMatch(/warning|unable/i);
  await cp(path.join(PROGRAMS, 'program.py'), path.join(folder, 'program.py'));
  expect(await run(folder, bin('mypy'), ['--strict', 'program.py', 'ras_generated'])).toMatch(/^Success: no issues/);
  expect(await run(folder, bin('python'), ['program.py'])).toBe('succeeded From Python run_not_found\n');
});

test('a client of oapi-codegen is built, creates, runs and reads', async () => {
  const tools = await installOnce('oapi-codegen-2.8.2', (run, into) =>
    run('env', `GOBIN=${into}`, 'go', 'install', GO),
  );
  const folder = await folderOf('go');
  await mkdir(path.join(folder, 'ras'));
  const output = ['-package', 'ras', '-generate', 'types,client', '-o', 'ras/client.go'];
  await run(folder, path.join(tools, 'oapi-codegen'), [...output, '../openapi.json']);
  await cp(path.join(PROGRAMS, 'main.go'), path.join(folder, 'main.go'));
  await run(folder, 'go', ['mod', 'init', 'example.com/program']);
  await run(folder, 'go', ['mod', 'tidy']);
  await run(folder, 'go', ['vet', './...']);
  expect(await run(folder, 'go', ['run', '.'])).toBe('succeeded From Go run_not_found\n');
});

test('a client of hey-api is typed, creates, runs and reads', async () => {
  const tools = await installOnce('hey-api-0.95.0', async (run, folder) => {
    await writeFile(path.join(folder, 'package.json'), '{"private": true}');
    await run('npm', 'install', '--prefix', folder, '--ignore-scripts', '--silent', ...NPM);
  });
  const folder = await folderOf('typescript');
  const tool = (name: string) => path.join(tools, 'node_modules/.bin', name);
  await run(folder, tool('openapi-ts'), ['-i', '../openapi.json', '-o', 'client']);
  await cp(path.join(PROGRAMS, 'program.ts.txt'), path.join(folder, 'program.ts'));
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    // The compiler must not load types of packages in folders above. On the command line this list cannot be empty.
    types: [],
    module: 'commonjs',
    moduleResolution: 'node10',
    outDir: 'out',
  };
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  await run(folder, tool('tsc'), ['--project', folder]);
  expect(await run(folder, process.execPath, ['out/program.js'])).toBe('succeeded From TypeScript run_not_found\n');
});

test('the Python SDK is packed, installed into an empty environment, and passes its tests', async () => {
  const tools = await installOnce('python-sdk-1', async (run, folder) => {
    await run('python3', '-m', 'venv', folder);
    await run(path.join(folder, 'bin/pip'), 'install', '--quiet', ...SDK_TOOLS);
  });
  const folder = await folderOf('python-sdk');
  const source = path.join(folder, 'source');
  await cp(SDK, source, { recursive: true });
  await run(source, path.join(tools, 'bin/python'), ['generate.py', '../../openapi.json']);
  await run(source, path.join(tools, 'bin/python'), ['-m', 'build', '--wheel', '--outdir', '../wheels']);
  await run(folder, 'python3', ['-m', 'venv', 'empty']);
  const pip = [
    'install',
    '--quiet',
    '--find-links',
    'wheels',
    'routine-automation-sdk',
    'pytest==9.2.0',
    'mypy==2.4.1',
  ];
  await run(folder, path.join(folder, 'empty/bin/pip'), pip);
  await cp(path.join(SDK, 'tests'), path.join(folder, 'tests'), { recursive: true });
  await run(folder, path.join(folder, 'empty/bin/mypy'), ['--strict', 'tests']);
  expect(await run(folder, path.join(folder, 'empty/bin/pytest'), ['-q', 'tests'])).toMatch(/ passed/);
});

async function folderOf(name: string): Promise<string> {
  const folder = path.join(servers.folder, name);
  await mkdir(folder);
  return folder;
}

const execute = promisify(execFile);

/** Runs a command to its end, and returns what it wrote. @throws with all that it wrote */
async function run(cwd: string, command: string, args: readonly string[]): Promise<string> {
  const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
  return execute(command, args, options).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${path.basename(command)} ${args.join(' ')}: ${error.stdout}${error.stderr}`, { cause: error });
    },
  );
}
