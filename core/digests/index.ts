export { queueResultDigests } from './queue.ts';
export {
  FREQUENCIES,
  forgetDigests,
  patchDigest,
  readDigest,
  WEEKDAYS,
  type DigestPatch,
  type DigestSettings,
} from './settings.ts';
