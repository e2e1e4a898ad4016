export { forgetReader, markRead, markUnread, UNREAD_DAYS } from './marks.ts';
export {
  countUnread,
  listResults,
  MAX_LOOKED_AT,
  RESULT_KINDS,
  says,
  type Result,
  type ResultKind,
  type Unread,
} from './results.ts';
export { MAX_RUNS_OF_SERIES, readSeries } from './series.ts';
export { countByDay } from './week.ts';
