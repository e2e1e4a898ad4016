export { forgetReader, markRead, markUnread, UNREAD_DAYS } from './marks.ts';
export { countUnread, listResults, RESULT_KINDS, type Result, type ResultKind, type Unread } from './results.ts';
export { countByDay } from './week.ts';
