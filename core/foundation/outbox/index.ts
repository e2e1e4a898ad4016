export { createAccountMails, type AccountMails, type WithAccountMails } from './account-mails.ts';
export {
  enqueueMail,
  enqueueOperatorMail,
  enqueuePing,
  holdMail,
  mergeHeld,
  projectsWithHeld,
  recordUnaddressed,
  type HeldCount,
} from './enqueue.ts';
export {
  cancelMessages,
  deleteMessages,
  eraseMessages,
  forgetMessages,
  listMessages,
  MESSAGE_KINDS,
  MESSAGE_STATES,
  oldestUnsentMail,
  type MailContent,
  type MailEntry,
  type MailPart,
  type MailSection,
  type MessageKind,
  type MessageSubject,
  type RunMessage,
} from './message.ts';
export {
  ALL_DIGESTS,
  createUnsubscribeLinks,
  digestScope,
  hasEndedDigests,
  narrowOptOut,
  optIn,
  optOut,
  UNSUBSCRIBE_PATH,
  type OptOut,
} from './opt-outs.ts';
export { messageKinds, type MessageDeps } from './send.ts';
export { adoptMessages } from './waiting.ts';
