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
  type MailSection,
  type MessageKind,
  type MessageSubject,
  type RunMessage,
} from './message.ts';
export {
  createUnsubscribeLinks,
  digestScope,
  hasOptedOut,
  optIn,
  optOut,
  UNSUBSCRIBE_PATH,
  type OptOut,
} from './opt-outs.ts';
export { sendMessages, type MessageDeps } from './send.ts';
