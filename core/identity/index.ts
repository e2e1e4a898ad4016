export {
  createApiKey,
  DEFAULT_SCOPES,
  listApiKeys,
  revokeApiKey,
  SCOPES,
  touchApiKey,
  type Scope,
} from './api-keys.ts';
export { createAuth, type Auth } from './auth.ts';
export { CLIENT_ADDRESS_HEADER, sessionCookieName, type AuthSettings } from './auth-options.ts';
export { createAuthMails, mailInvitation } from './auth-mails.ts';
export { isCommonPassword } from './passwords.ts';
export { authenticateKey, findMemberships, stillStands } from './credentials.ts';
export {
  forgetIdentity,
  forgetUnconfirmed,
  markErased,
  markOrganizationDeleted,
  markProjectDeleted,
  projectsToErase,
  type Confirmed,
} from './deletion.ts';
export { createProject, holdProject, listProjects, type Project } from './projects.ts';
export {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  listInvitations,
} from './invitations.ts';
export {
  assertRecipients,
  findRecipients,
  MAIL_EVENTS,
  RECIPIENT_GROUPS,
  type MailEvent,
  type MailSettings,
} from './mail-settings.ts';
export {
  changeRole,
  endMembership,
  leaveOrganization,
  listMembers,
  MAX_MEMBERS,
  organizationsOf,
  type DemotedMember,
} from './members.ts';
export {
  foundOrganization,
  listOrganizations,
  paidPlanOf,
  type Organization,
  type PaidPlan,
} from './organizations.ts';
export { assertFreshProof } from './proof.ts';
export { assertAdmin, lacksSecondFactor, type Role } from './roles.ts';
export {
  endSessionsOf,
  listSessions,
  MAX_LISTED_SESSIONS,
  revokeSession,
  type ListedSession,
} from './sessions.ts';
export {
  contentDaysOf,
  contentDaysOfAll,
  hasOwnRetention,
  readContentDays,
  runDaysOf,
  type RetentionRule,
} from './retention.ts';
export {
  patchOrganization,
  patchProject,
  readOrganization,
  readProject,
  type Budget,
  type ProjectSettings,
} from './settings.ts';
export { passkeyAssertion } from './second-factor/passkey-check.ts';
export { newPasskey } from './second-factor/passkeys.ts';
export { freeAccount } from './second-factor/check.ts';
export {
  assertMayBeginSignIn,
  countUse,
  countWithin,
  throttle,
  type ThrottleRule,
  type WindowUse,
} from './throttle.ts';
