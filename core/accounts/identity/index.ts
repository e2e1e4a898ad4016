export { createAuth, type Auth } from './auth.ts';
export { CLIENT_ADDRESS_HEADER, sessionCookieName, type AuthSettings } from './auth-options.ts';
export { createAuthMails } from './auth-mails.ts';
export { authenticateKey, findMemberships, isStillMember, mustProveIn, stillStands } from './credentials.ts';
export { isCommonPassword } from './passwords.ts';
export { assertFreshProof } from './proof.ts';
export {
  endSessionsOf,
  forgetSessions,
  forgetUnconfirmed,
  listSessions,
  MAX_LISTED_SESSIONS,
  revokeSession,
  type ListedSession,
} from './sessions.ts';
export { ensureMcpResource, mcpResource, tokenPrefix } from './assistant-server.ts';
export { passkeyAssertion } from './second-factor/passkey-check.ts';
export { newPasskey } from './second-factor/passkeys.ts';
export { freeAccount } from './second-factor/check.ts';
