export { createAccountMails, type AccountMails, type WithAccountMails } from './account-mails.ts';
export {
  cancelHeld,
  enqueueMail,
  enqueueOperatorMail,
  enqueuePing,
  holdMail,
  mergeHeld,
  mergeHeldOfProject,
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
export { sendMessages, type MessageDeps } from './send.ts';
