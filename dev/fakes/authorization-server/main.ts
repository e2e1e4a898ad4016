/**
 * Entry: runs the fixture authorization server on AUTHORIZATION_SERVER_PORT. If TOOL_SERVER_URL names a tool server, a
 * gate that protects it listens on PROTECTED_TOOL_SERVER_PORT.
 */
import { startProtectedToolServer } from './protected-tool-server.ts';
import { startAuthorizationServer } from './server.ts';

const authorizationServer = await startAuthorizationServer({
  port: Number(process.env['AUTHORIZATION_SERVER_PORT'] ?? 4020),
});

const upstream = process.env['TOOL_SERVER_URL'];
const toolServer =
  upstream === undefined
    ? undefined
    : await startProtectedToolServer({
        port: Number(process.env['PROTECTED_TOOL_SERVER_PORT'] ?? 4021),
        authorizationServer,
        upstream,
      });
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void Promise.all([toolServer?.stop(), authorizationServer.stop()]).then(() => process.exit(0));
  });
}

console.log(`Fixture authorization server: ${authorizationServer.issuer}`);
if (toolServer !== undefined) console.log(`Fixture tool server that wants a sign-in: ${toolServer.url}`);
