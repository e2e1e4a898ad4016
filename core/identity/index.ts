export {
  createApiKey,
  listApiKeys,
  revokeApiKey,
  touchApiKey,
  type ApiKey,
  DEFAULT_SCOPES,
  SCOPES,
  type Scope,
} from './api-keys.ts';
export { createAuth, type Auth } from './auth.ts';
export { createAuthMails, mailInvitation } from './auth-mails.ts';
export {
  authOptions,
  CLIENT_ADDRESS_HEADER,
  sessionCookieName,
  type AuthSettings,
} from './auth-options.ts';
export { isCommonPassword } from './passwords.ts';
export { authenticateKey, findMemberships, stillStands } from './credentials.ts';
export {
  markOrganizationDeleted,
  markProjectDeleted,
  type Confirmed,
  markErased,
  projectsToErase,
} from './deletion.ts';

export {
  forgetAuthentication,
  forgetInvitations,
  forgetUnconfirmed,
  forgetThrottles,
} from './housekeeping.ts';

export { createProject, listProjects, type Project, holdProject } from './projects.ts';
export {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  listInvitations,
  type Invitation,
} from './invitations.ts';
export {
  findRecipients,
  assertRecipients,
  MAIL_EVENTS,
  RECIPIENT_GROUPS,
  type MailEvent,
  type MailSettings,
} from './mail-settings.ts';
export {
  changeRole,
  listMembers,
  MAX_MEMBERS,
  removeMember,
  type ListedMember,
  type MembershipEnded,
} from './members.ts';
export {
  foundOrganization,
  listOrganizations,
  type Organization,
  paidPlanOf,
  type PaidPlan,
} from './organizations.ts';

export { assertFreshProof } from './proof.ts';
export { assertAdmin, type Role, lacksSecondFactor } from './roles.ts';
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
  type OrganizationSettings,
  type ProjectSettings,
} from './settings.ts';

export { passkeyAssertion } from './second-factor/passkey-check.ts';
export { newPasskey } from './second-factor/passkeys.ts';
export { freeAccount } from './second-factor/check.ts';
export {
  countUse,
  countWithin,
  throttle,
  type ThrottleRule,
  type WindowUse,
  assertMayBeginSignIn,
} from './throttle.ts';
