export { createRunFeed, type RunFeed } from './feed.ts';
export { STREAM_END_NAMES, openRunEvents, waitForRunEnd, type RunEvent, type StreamEnd } from './follow.ts';
export { forgetFollowers } from './leases.ts';
export { createLiveTexts, forgetLiveTexts, type LiveTexts } from './live-texts.ts';
