import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Writes a new file and renames it over the old one, so that no reader sees half a file. A file keeps its mode, and a
 * link keeps its target; with `secret` only the user can read the file and its folder.
 */
export async function writeWhole(
  file: string,
  text: string,
  { secret = false }: { readonly secret?: boolean } = {},
): Promise<void> {
  const target = await realpath(file).catch(() => file);
  const folder = path.dirname(target);
  await mkdir(folder, { recursive: true, mode: secret ? 0o700 : 0o777 });
  if (secret) await chmod(folder, 0o700);
  const before = await stat(target).catch(() => undefined);
  const beside = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    // `wx`: a link that another user created there is not followed.
    const handle = await open(beside, 'wx', secret ? 0o600 : 0o666);
    await handle.writeFile(text);
    if (!secret && before !== undefined) await handle.chmod(before.mode & 0o777);
    await handle.sync();
    await handle.close();
    await rename(beside, target);
  } finally {
    await rm(beside, { force: true });
  }
}
