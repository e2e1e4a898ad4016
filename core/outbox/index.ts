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
export { cancelMessages, deleteMessages, eraseMessages, forgetMessages } from './erase.ts';
export { listMessages, oldestUnsentMail, type RunMessage } from './list.ts';
export {
  MESSAGE_KINDS,
  MESSAGE_STATES,
  type MailContent,
  type MessageKind,
  type MessageSubject,
} from './message.ts';
export {
  createUnsubscribeLinks,
  optIn,
  optOut,
  UNSUBSCRIBE_PATH,
  type OptOut,
} from './unsubscribe.ts';
export { sendMessages, type MessageDeps } from './send.ts';
