export {
  assertRecipients,
  findRecipients,
  mailIn,
  mailSettings,
  storedMail,
  type MailEvent,
  type MailSettings,
} from './mail-settings.ts';
export {
  contentDaysOf,
  contentDaysOfAll,
  hasOwnRetention,
  chosenContentDays,
  runDaysOf,
  type RetentionRule,
} from './retention.ts';
export {
  budgetFields,
  patchOrganization,
  patchProject,
  projectOf,
  readOrganization,
  readProject,
  type Budget,
  type ProjectSettings,
} from './settings.ts';
