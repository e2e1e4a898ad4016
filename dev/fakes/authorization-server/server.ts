import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import Provider, { type KoaContextWithOIDC } from 'oidc-provider';
import { closeAtOnce, listenOn } from '#lib/listen.ts';
import { createHolds } from './holds.ts';
import { configuration } from './configuration.ts';
import { consent } from './consent.ts';
import { answerDevice } from './device.ts';
import type { AuthorizationServer, AuthorizationServerOptions } from './options.ts';
import { ALL_SCOPES } from './scope.ts';

/**
 * Starts an OAuth 2.1 and OpenID authorization server on 127.0.0.1, built on `oidc-provider`: code flow with PKCE,
 * device flow, rotating refresh tokens, revocation, resource indicators, dynamic registration. It needs no click: it
 * approves every consent by itself, and opening the page of a device's code approves the device.
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions): Promise<AuthorizationServer> {
  const server = createServer();
  const issuer = await listen(server, options.port);
  const grantIds = new Set<string>();
  const accessTokens = new Set<{ destroy(): Promise<unknown> }>();
  const holds = createHolds();
  const control: AuthorizationServer['control'] = {
    answer: options.answer ?? 'approve',
    accessTokenSeconds: options.accessTokenSeconds ?? 3600,
    tokenFaults: [],
    tokenRequests: [],
    tokenDelayMs: 0,
    holdNextToken: holds.hold,
    account: 'fixture-person',
    agreedTo: ALL_SCOPES,
    revocationRequests: [],
    revocationFaults: [],
    answerDevice: (userCode, answer) =>
      answerDevice(provider, userCode, answer, (id) => grantIds.add(id), control.account),
    async revokeAccessTokens() {
      for (const token of accessTokens) await token.destroy();
      accessTokens.clear();
    },
    async revokeAll() {
      await control.revokeAccessTokens();
      for (const id of grantIds) await provider.RefreshToken.revokeByGrantId(id);
    },
  };
  const provider = new Provider(issuer, configuration(options, control));
  const accessToken: AuthorizationServer['accessToken'] = async (bearer) => {
    const token = await provider.AccessToken.find(bearer);
    if (token === undefined) return undefined;
    return { audience: audienceOf(token.aud), scope: token.scope ?? '' };
  };
  provider.use(async (ctx, next) => {
    if (ctx.path.startsWith('/interaction/')) {
      const onGrant = (id: string) => grantIds.add(id);
      return consent(provider, ctx, control.answer, onGrant, control);
    }
    const userCode = new URLSearchParams(ctx.querystring).get('user_code');
    if (ctx.path === '/device' && userCode !== null) {
      await control.answerDevice(userCode, control.answer);
      ctx.body = control.answer === 'approve' ? 'Agreed.\n' : 'Said no.\n';
      return;
    }
    if (ctx.path === '/accounts') {
      const bearer = ctx.get('authorization').replace(/^Bearer /, '');
      const known = bearer === options.apiKey || (await accessToken(bearer)) !== undefined;
      ctx.status = known ? 200 : 401;
      ctx.body = known ? ACCOUNTS : { error: 'unauthorized' };
      return;
    }
    if (ctx.path === '/token') {
      await holds.pass('before');
      await sleep(control.tokenDelayMs);
    }
    const fault = ctx.path === '/token' ? control.tokenFaults.shift() : undefined;
    if (fault !== undefined) {
      control.tokenRequests.push('faulty');
      ctx.status = fault.status;
      ctx.type = 'application/json';
      ctx.body = fault.body;
      return;
    }
    const revocationFault = ctx.path.startsWith('/token/revocation') ? control.revocationFaults.shift() : undefined;
    if (revocationFault !== undefined) {
      control.revocationRequests.push('faulty');
      if (revocationFault === 'hang') ctx.respond = false;
      else ctx.status = revocationFault;
      return;
    }
    await next();
    if (ctx.path === '/token') await holds.pass('after');
    if (ctx.path.startsWith('/token/revocation')) {
      const hint = ctx.status === 200 ? ctx.oidc?.params?.['token_type_hint'] : 'refused';
      control.revocationRequests.push(String(hint));
    }
  });
  const count = (ctx: KoaContextWithOIDC) => control.tokenRequests.push(grantTypeOf(ctx));
  provider.on('grant.success', count);
  provider.on('grant.error', count);
  provider.on('access_token.saved', (token) => accessTokens.add(token));
  server.on('request', provider.callback());
  return {
    issuer,
    control,
    accessToken,
    stop: () => closeAtOnce(server),
  };
}

const ACCOUNTS = {
  accounts: [
    { id: 'site-1', name: 'https://shop.example/' },
    { id: 'site-2', name: 'https://blog.example/' },
  ],
};

function audienceOf(audience: string | string[] | undefined): string | undefined {
  return Array.isArray(audience) ? audience[0] : audience;
}

function grantTypeOf(ctx: KoaContextWithOIDC): string {
  const type = ctx.oidc?.params?.['grant_type'];
  return typeof type === 'string' ? type : 'unknown';
}

async function listen(server: Server, port: number): Promise<string> {
  const bound = await listenOn(server, { host: '127.0.0.1', port });
  return `http://127.0.0.1:${bound}`;
}
