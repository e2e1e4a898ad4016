export { forgetReader, markRead, UNREAD_DAYS } from './marks.ts';
export { countUnread, listResults, RESULT_KINDS, type ResultKind } from './results.ts';
