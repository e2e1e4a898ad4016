import type Provider from 'oidc-provider';

import { TOOLS_SCOPE } from './scope.ts';

/**
 * Plays the person who enters a user code on another device (RFC 8628, section 3.3). @throws when the code is unknown
 */
export async function answerDevice(
  provider: Provider,
  userCode: string,
  answer: 'approve' | 'deny',
  onGrant: (grantId: string) => void,
  account: string,
): Promise<void> {
  const code = await provider.DeviceCode.findByUserCode(userCode.replaceAll(/\W/g, ''));
  if (code?.clientId === undefined) throw new Error('no such user code');
  if (answer === 'deny') {
    code.error = 'access_denied';
    code.errorDescription = 'The person said no.';
  } else {
    const scope = `openid email offline_access ${TOOLS_SCOPE}`;
    const grant = new provider.Grant({ accountId: account, clientId: code.clientId });
    grant.addOIDCScope(scope);
    const grantId = await grant.save();
    onGrant(grantId);
    Object.assign(code, {
      accountId: account,
      grantId,
      scope,
      authTime: Math.floor(Date.now() / 1000),
    });
  }
  await code.save();
}
