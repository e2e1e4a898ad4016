/**
 * Entry of `npm run check:sdk`: packs the SDK and the CLI, checks the packages, and uses them from an empty folder: the
 * SDK on each platform and with the compilers of its users, the CLI on each Node.js. Everything is installed into a
 * folder of its own, in pinned versions.
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');
const PLATFORM = `${process.platform}-${process.arch}`;
const NODES = ['20.20.2', '22.23.3', '24.21.0'];

/** Folder names and the packages with versions that they install. No package has an install script. */
const TOOLS: Readonly<Record<string, string>> = {
  publint: 'publint@0.3.25',
  attw: '@arethetypeswrong/cli@0.18.5',
  bun: `@oven/bun-${PLATFORM}@1.4.5`,
  deno: `@deno/${PLATFORM}${process.platform === 'linux' ? '-glibc' : ''}@2.9.6`,
  '@types/node': '@types/node@24.19.2',
  'typescript-5.4': 'typescript@5.4.5',
  'typescript-5.9': 'typescript@5.9.3',
  ...Object.fromEntries(NODES.map((version) => [`node-${version}`, `node-${PLATFORM}@${version}`])),
};

const failed: string[] = [];
const folder = await mkdtemp(path.join(tmpdir(), 'sdk-'));
try {
  await check();
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

async function check(): Promise<void> {
  run('build', process.execPath, [path.join(ROOT, 'cli/build.ts')]);
  const tarball = await pack('sdk');
  const cli = await pack('cli');
  await writeFile(path.join(folder, 'package.json'), '{"private": true, "type": "module"}');
  const aliases = Object.entries(TOOLS).map(([name, wanted]) => `${name}@npm:${wanted}`);
  run('install', 'npm', [
    'install',
    '--ignore-scripts',
    '--silent',
    '--force',
    tarball,
    // Install the CLI with the SDK, which it finds there although the SDK is not published.
    cli,
    ...aliases,
  ]);
  const installed = path.join(folder, 'node_modules');
  const tool = (file: string) => path.join(installed, file);

  run('publint', process.execPath, [tool('publint/src/cli.js'), '--strict', tarball]);
  run('publint of the CLI', process.execPath, [tool('publint/src/cli.js'), '--strict', cli]);
  run('attw', process.execPath, [tool('attw/dist/index.js'), tarball, '--profile', 'strict']);

  await cp(path.join(import.meta.dirname, 'consumer.ts'), path.join(folder, 'consumer.ts'));
  for (const compiler of ['typescript-5.4', 'typescript-5.9']) {
    const options = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023', '--strict'];
    const files = [...options, '--outDir', '.', path.join(folder, 'consumer.ts')];
    run(compiler, process.execPath, [tool(`${compiler}/bin/tsc`), '--types', 'node', ...files]);
  }
  await cp(path.join(import.meta.dirname, 'consumer.cts'), path.join(folder, 'consumer.cts'));
  for (const form of [[], ['--moduleResolution', 'node10', '--module', 'commonjs', '--ignoreDeprecations', '5.0']]) {
    const options = ['--module', 'node16', '--target', 'es2022', '--lib', 'es2023', '--strict', ...form];
    const compiler = tool('typescript-5.9/bin/tsc');
    const files = ['--outDir', '.', '--types', 'node', path.join(folder, 'consumer.cts')];
    run(`CommonJS ${form.join(' ')}`, process.execPath, [compiler, ...options, ...files]);
  }
  run('consumer.cjs', process.execPath, ['consumer.cjs']);
  const script = 'consumer.js';
  for (const node of NODES) run(`node ${node}`, tool(`node-${node}/bin/node`), [script]);
  const ras = tool('routine-automation-cli/bin/ras.js');
  for (const node of NODES) run(`ras, node ${node}`, tool(`node-${node}/bin/node`), [ras, '--help']);
  run('bun', tool('bun/bin/bun'), [script]);
  run('deno', tool('deno/deno'), ['run', '--allow-env', '--allow-net=127.0.0.1', script]);
}

/** Packs a workspace into the folder, and returns the file name. */
async function pack(workspace: 'sdk' | 'cli'): Promise<string> {
  run(`pack ${workspace}`, 'npm', ['pack', path.join(ROOT, workspace), '--silent']);
  const { name, version } = JSON.parse(await readFile(path.join(ROOT, workspace, 'package.json'), 'utf8'));
  return path.join(folder, `${name}-${version}.tgz`);
}

/** Runs a command in the folder, and prints its duration. */
function run(name: string, command: string, args: readonly string[]): void {
  const begun = performance.now();
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: folder,
    encoding: 'utf8',
  });
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
  if (status === 0) return console.log(`${name}: good, ${seconds} s`);
  failed.push(name);
  console.error(`${name}: failed\n${error?.message ?? ''}${stdout}${stderr}`);
}
