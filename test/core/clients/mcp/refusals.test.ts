import { InsufficientScopeError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { toToolServerError } from '#core/clients/mcp/error.ts';
import { checkToolServer, fixedCredentials, type RequestCredentials } from '#core/clients/mcp/index.ts';
import { WRITE_SCOPE } from '#dev/fakes/authorization-server/scope.ts';
import { localClient, startReceiver } from '#test/lib/outbound/receiver.ts';

test('a token that was renewed on the spot and then lacks a scope is told of both', async () => {
  const server = await startReceiver((request, response) => {
    const isRenewed = request.headers.authorization === 'Bearer renewed';
    const challenge = `Bearer error="insufficient_scope", scope="${WRITE_SCOPE}"`;
    response.writeHead(isRenewed ? 403 : 401, { 'www-authenticate': isRenewed ? challenge : 'Bearer' }).end();
  });
  const refusals: unknown[] = [];
  const credentials: RequestCredentials = {
    headers: async () => ({ authorization: 'Bearer old' }),
    async refused(used, _signal, demanded) {
      refusals.push([used['authorization'], demanded]);
      return demanded === undefined ? { authorization: 'Bearer renewed' } : undefined;
    },
  };
  const url = `${server.origin}/mcp`;
  await expect(checkToolServer({ outbound: localClient() }, { url, credentials })).rejects.toMatchObject({
    kind: 'sign_in',
  });
  expect(refusals).toEqual([
    ['Bearer old', undefined],
    ['Bearer renewed', [WRITE_SCOPE]],
  ]);
});

test('what the MCP client itself makes of a missing scope is an error of the sign-in as well', () => {
  const error = toToolServerError(new InsufficientScopeError({ requiredScope: WRITE_SCOPE }));
  expect(error).toMatchObject({ kind: 'sign_in', mayHaveArrived: false });
});

test('a server that denies access without asking for a sign-in may be one that goes by another host name', async () => {
  const server = await startReceiver((_request, response) => {
    response.writeHead(403).end('Access is only allowed at localhost');
  });
  const target = { url: `${server.origin}/mcp`, credentials: fixedCredentials({}) };
  await expect(checkToolServer({ outbound: localClient() }, target)).rejects.toMatchObject({
    kind: 'forbidden',
    isDenial: true,
    message: expect.stringContaining('another host name'),
  });
});
