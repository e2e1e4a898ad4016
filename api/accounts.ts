import { endProgramsOf, leaveOrganizations } from '#core/upkeep/deletion/index.ts';
import { createAuth, createAuthMails, type AuthSettings } from '#core/accounts/identity/index.ts';
import type { WithAccountMails } from '#core/foundation/outbox/index.ts';
import type { AccountsCore } from '#core/models/connections/index.ts';
import type { Config } from '#lib/config/index.ts';
import type { Log } from '#lib/log.ts';
import type { Deps } from './deps.ts';
import { clientAddressBehind } from './http/client-address.ts';
import { limitKeyAttempts, limitLooks } from './http/address-limits.ts';

/** Opens the parts for sign-ins and for the limits by client address, which only the API uses. */
export function openAccounts(
  config: Config,
  services: AccountsCore & WithAccountMails,
  log: Log,
  passwords?: AuthSettings['passwords'],
): Pick<Deps, 'auth' | 'clientAddress' | 'keyAttempts' | 'readiness'> {
  const { database, accountMails, secrets } = services;
  const { UI_ORIGIN: uiOrigin } = config;
  const auth = createAuth({
    database,
    publicUrl: config.PUBLIC_URL,
    uiOrigin,
    secret: config.BETTER_AUTH_SECRET,
    secrets,
    productTag: config.PRODUCT_TAG,
    signUp: config.SIGN_UP,
    registersClients: config.OAUTH_CLIENT_REGISTRATION_ENABLED,
    maxOrganizations: config.MAX_ORGANIZATIONS_PER_PERSON,
    mails: accountMails && createAuthMails({ db: database, accountMails, uiOrigin }),
    leaveOrganizations: (userId) => leaveOrganizations(services, userId),
    endPrograms: (userId) => endProgramsOf(services, userId),
    passwords,
    log,
  });
  return {
    auth,
    clientAddress: clientAddressBehind(config.TRUSTED_PROXIES, (peer) =>
      log.warn({ peer }, 'X-Forwarded-For comes from a peer that TRUSTED_PROXIES does not name'),
    ),
    keyAttempts: limitKeyAttempts(config.WRONG_KEYS_PER_MINUTE),
    readiness: limitLooks(),
  };
}
