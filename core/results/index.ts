export {
  countUnread,
  forgetReader,
  listResults,
  markRead,
  RESULT_KINDS,
  UNREAD_DAYS,
  type ResultKind,
} from './results.ts';
