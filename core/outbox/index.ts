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
  type MessageKind,
  type MessageSubject,
  type RunMessage,
} from './message.ts';
export {
  createUnsubscribeLinks,
  optIn,
  optOut,
  UNSUBSCRIBE_PATH,
  type OptOut,
} from './send-mail.ts';
export { sendMessages, type MessageDeps } from './send.ts';
