export { forgetReader, markRead, UNREAD_DAYS } from './marks.ts';
export { countUnread, listResults, RESULT_KINDS, type Result, type ResultKind, type Unread } from './results.ts';
export { MAX_LOOKED_AT, says } from './search.ts';
export { MAX_RUNS_OF_SERIES, readSeries } from './series.ts';
export { countByDay } from './week.ts';
