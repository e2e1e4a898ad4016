import type { IncomingMessage, ServerResponse } from 'node:http';

import type Provider from 'oidc-provider';

import { ALL_SCOPES } from './scope.ts';

/** Plays the person at the login and consent pages, who approves or denies everything at once. */
export async function consent(
  provider: Provider,
  ctx: { req: IncomingMessage; res: ServerResponse; respond?: boolean | undefined },
  answer: 'approve' | 'deny',
  onGrant: (grantId: string) => void,
  { account, agreedTo }: { readonly account: string; readonly agreedTo: string },
): Promise<void> {
  ctx.respond = false;
  if (answer === 'deny') {
    const error = 'access_denied';
    await provider.interactionFinished(ctx.req, ctx.res, { error }, { mergeWithLastSubmission: false });
    return;
  }
  const { params } = await provider.interactionDetails(ctx.req, ctx.res);
  const grant = new provider.Grant({ accountId: account, clientId: String(params['client_id']) });
  grant.addOIDCScope(`openid email offline_access ${ALL_SCOPES}`);
  for (const resource of [params['resource']].flat()) {
    if (typeof resource !== 'string') continue;
    grant.addResourceScope(resource, agreedTo);
    // Reject the scopes that are left out: otherwise the provider would ask the person for them again.
    const leftOut = ALL_SCOPES.split(' ').filter((scope) => !agreedTo.split(' ').includes(scope));
    if (leftOut.length > 0) grant.rejectResourceScope(resource, leftOut.join(' '));
  }
  const grantId = await grant.save();
  onGrant(grantId);
  const result = { login: { accountId: account }, consent: { grantId } };
  await provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: false });
}
