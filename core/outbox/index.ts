export {
  enqueueMail,
  enqueueOperatorMail,
  enqueuePing,
  holdMail,
  recordUnaddressed,
} from './enqueue.ts';
export { cancelMessages, deleteMessages, eraseMessages, forgetMessages } from './erase.ts';
export { cancelHeld, mergeHeld, mergeHeldOfProject, type HeldCount } from './held.ts';
export { listMessages, type RunMessage } from './list.ts';
export {
  MESSAGE_KINDS,
  MESSAGE_STATES,
  type MailContent,
  type MessageKind,
  type MessageSubject,
} from './message.ts';
export { optIn, optOut } from './opt-outs.ts';
export { sendMessages, type MessageDeps } from './send.ts';
export {
  createUnsubscribeLinks,
  UNSUBSCRIBE_PATH,
  type OptOut,
  type UnsubscribeLinks,
} from './unsubscribe-links.ts';
export { oldestUnsentMail } from './waiting.ts';
