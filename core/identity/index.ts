export { createApiKey, listApiKeys, revokeApiKey, touchApiKey, type ApiKey } from './api-keys.ts';
export { createAuth, type Auth } from './auth.ts';
export { createAuthMails, mailInvitation } from './auth-mails.ts';
export {
  authOptions,
  CLIENT_ADDRESS_HEADER,
  sessionCookieName,
  type AuthSettings,
} from './auth-options.ts';
export { isCommonPassword } from './common-passwords.ts';
export { authenticateKey, findMemberships } from './credentials.ts';
export { markOrganizationDeleted, markProjectDeleted, type Confirmed } from './deletion.ts';
export { markErased, projectsToErase } from './erasure.ts';
export { forgetAuthentication } from './expired.ts';
export { forgetInvitations, forgetUnconfirmed } from './forget.ts';
export { holdProject } from './hold-project.ts';
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
export { foundOrganization, listOrganizations, type Organization } from './organizations.ts';
export { paidPlanOf, type PaidPlan } from './paid-plan.ts';
export { assertFreshProof } from './proof.ts';
export { createProject, listProjects, type Project } from './projects.ts';
export { assertAdmin, type Role } from './roles.ts';
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
export { lacksSecondFactor } from './second-factor/demand.ts';
export { passkeyAssertion } from './second-factor/passkey-check.ts';
export { newPasskey } from './second-factor/passkeys.ts';
export { freeAccount } from './second-factor/told.ts';
export { assertMayBeginSignIn } from './sign-in-starts.ts';
export { stillStands } from './standing.ts';
export { DEFAULT_SCOPES, SCOPES, type Scope } from './scopes.ts';
export {
  countUse,
  countWithin,
  forgetThrottles,
  throttle,
  type ThrottleRule,
  type WindowUse,
} from './throttle.ts';
