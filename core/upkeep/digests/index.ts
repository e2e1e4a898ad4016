export { digestKind, queueResultDigests } from './queue.ts';
export { FREQUENCIES, forgetDigests, patchDigest, readDigest, WEEKDAYS, type DigestSettings } from './settings.ts';
