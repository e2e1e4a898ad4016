import type { Server } from 'node:http';

/**
 * Lets a server listen.
 * @returns the port: the one that was asked for, or the one that the system chose for 0
 * @throws the error of the socket, such as `EADDRINUSE`
 */
export async function listenOn(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
