import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '#dev/stack/cache-dir.ts';

const execute = promisify(execFile);
const FOLDER = path.join(cacheDir(process.env), 'linters');

const HELM = '3.19.0';
const VALIDATE = '1.37.0';
const DCLINT = '3.1.0';

/** Runs a tool and returns its output. The message of a failure contains the output too. */
export type Tool = (args: readonly string[]) => Promise<string>;

/** Returns helm, built from its Go module, or the reason why it is missing. */
export async function helm(): Promise<Tool | string> {
  const folder = path.join(FOLDER, `helm-${HELM}`);
  const file = path.join(folder, 'helm');
  if (existsSync(file)) return tool(file);
  if (!(await starts('go', ['version']))) return 'Go is not installed, which builds helm';
  await mkdir(folder, { recursive: true });
  await execute('go', ['install', `helm.sh/helm/v3/cmd/helm@v${HELM}`], {
    env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0' },
  });
  return tool(file);
}

/** Returns kubernetes-validate, which contains the schemas of Kubernetes, or the reason why it is missing. */
export async function kubernetesValidate(): Promise<Tool | string> {
  const folder = path.join(FOLDER, `kubernetes-validate-${VALIDATE}`);
  const file = path.join(folder, 'bin', 'kubernetes-validate');
  if (existsSync(file)) return tool(file);
  if (!(await starts('python3', ['-c', 'import ensurepip, venv']))) {
    return 'Python with venv and pip is not installed, which brings kubernetes-validate';
  }
  await execute('python3', ['-m', 'venv', folder]);
  const pip = path.join(folder, 'bin', 'pip');
  await execute(pip, ['install', '--quiet', `kubernetes-validate==${VALIDATE}`]);
  return tool(file);
}

export async function dclint(): Promise<Tool> {
  const folder = path.join(FOLDER, `dclint-${DCLINT}`);
  const file = path.join(folder, 'node_modules', '.bin', 'dclint');
  if (!existsSync(file)) {
    await mkdir(folder, { recursive: true });
    await execute('npm', ['install', '--prefix', folder, '--no-save', `dclint@${DCLINT}`]);
  }
  return tool(file);
}

function tool(file: string): Tool {
  return async (args) => {
    const { stdout } = await execute(file, [...args], { maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  };
}

async function starts(command: string, args: readonly string[]): Promise<boolean> {
  return execute(command, [...args]).then(
    () => true,
    () => false,
  );
}
