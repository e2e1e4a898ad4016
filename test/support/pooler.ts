import { execFile } from 'node:child_process';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Children } from '#dev/stack/children.ts';
import { freePort } from '#dev/stack/ports.ts';

/**
 * Starts an installed pgbouncer (Debian: pgbouncer) in transaction mode before a Postgres server. It ends with the other
 * children.
 * @returns its port
 */
export async function startPooler(
  adminUrl: string,
  { folder, spawn }: { folder: string; spawn: Children['spawn'] },
): Promise<number> {
  const { hostname, port: target, username, password } = new URL(adminUrl);
  const port = await freePort();
  const own = await mkdtemp(path.join(folder, 'pgbouncer-'));
  await Promise.all([folder, own].map((each) => chmod(each, 0o755)));
  const users = path.join(own, 'users.txt');
  await writeFile(users, `"${username}" "${password}"\n`);
  const settings = path.join(own, 'pgbouncer.ini');
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
max_client_conn = 2000
default_pool_size = 10
# A database that a test drops is gone for its connections too.
server_idle_timeout = 1
`,
  );
  await spawn({
    name: 'pgbouncer',
    command: 'pgbouncer',
    args: [settings],
    logFile: path.join(own, 'pgbouncer.log'),
    // Run as another user, because pgbouncer refuses to run as root.
    ...(process.getuid?.() === 0 && { uid: await idOf('postgres') }),
  });
  return port;
}

async function idOf(user: string): Promise<number> {
  const { stdout } = await promisify(execFile)('id', ['-u', user]);
  return Number(stdout);
}
