import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../..');

/** The commit with the schema of 0.1.0, used until a release has a tag. */
const FIRST_RELEASE = '5fa098a5bf3c90e4f5620e59b09aed7b8c48b854';

/** Returns the newest release tag before this commit, like v0.1.0; undefined if a clone lacks tags. */
export async function lastRelease(): Promise<string | undefined> {
  const git = (...args: string[]) => execute('git', args, { cwd: ROOT }).then(({ stdout }) => stdout.trim());
  const tag = await git('describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^').catch(() => FIRST_RELEASE);
  return git('rev-parse', '--verify', '--quiet', `${tag}^{commit}`).catch(() => undefined);
}

/** Writes the files of a commit into a new folder, with the packages that are installed here. */
export async function checkOutCommit(commit: string): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ras-last-release-'));
  const archive = path.join(folder, 'archive.tar');
  await execute('git', ['archive', `--output=${archive}`, commit], { cwd: ROOT });
  await execute('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`]);
  await rm(archive);
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}
