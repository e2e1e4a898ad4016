export { digestKind, queueResultDigests } from './queue.ts';
export { resultKind } from './result.ts';
export { FREQUENCIES, forgetDigests, patchDigest, readDigest, WEEKDAYS, type DigestSettings } from './settings.ts';
