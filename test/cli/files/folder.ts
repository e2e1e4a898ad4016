import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { environmentOf, terminal, type TerminalOptions } from '#test/cli/terminal.ts';

/** A folder with routines as files, and a user who runs `ras` in it. */
export class Folder {
  readonly folder: string;
  /** Runs a command in the folder. */
  readonly ras: (
    args: readonly string[],
    options?: TerminalOptions,
  ) => ReturnType<Awaited<ReturnType<typeof terminal>>['run']>;

  constructor(folder: string, ras: Folder['ras']) {
    this.folder = folder;
    this.ras = (args, options) => ras([...args, '-C', folder], options);
  }

  /** Makes a plan with `--json`; exit code 2 means changes. */
  plan(...args: readonly string[]) {
    return this.ras(['plan', '--format', 'json', '--exit-code', ...args]);
  }

  async write(file: string, text: string | Buffer): Promise<void> {
    const target = path.join(this.folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }

  remove(file: string): Promise<void> {
    return rm(path.join(this.folder, file));
  }

  removeFolder(file: string): Promise<void> {
    return rm(path.join(this.folder, file), { recursive: true });
  }

  read(file: string): Promise<string> {
    return readFile(path.join(this.folder, file), 'utf8');
  }

  async list(): Promise<string[]> {
    const found = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return found
      .filter((each) => each.isFile())
      .map((each) => path.relative(this.folder, path.join(each.parentPath, each.name)))
      .toSorted();
  }

  /** Writes a routine for the fixture model of the tests. */
  routine(key: string, head: Record<string, string> = {}, text = 'Write one line.'): Promise<void> {
    const fields = Object.entries({
      name: 'Report',
      schedule: '0 7 * * *',
      model: '{ provider: gateway, modelId: fixture/writer-small }',
      ...head,
    });
    const yaml = fields.map(([name, value]) => `${name}: ${value}\n`).join('');
    return this.write(`routines/${key}.md`, `---\n${yaml}---\n${text}\n`);
  }
}

/** Makes a folder for a caller and runs `ras init` in it. */
export async function folderFor(caller?: ApiClient): Promise<Folder> {
  const user = await terminal();
  const env = caller === undefined ? {} : environmentOf(caller);
  const root = await mkdtemp(path.join(tmpdir(), 'ras-files-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = new Folder(root, (args, options = {}) =>
    user.run(args, { ...options, env: { ...env, ...options.env } }),
  );
  await folder.ras(['init']);
  return folder;
}
