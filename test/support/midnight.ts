import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** Longer than most files take. */
const LAST_MS = 45_000;

// Usage is counted by day (UTC): a file that would begin at the end of one begins with the next, for its sums to be of
// one.
const left = DAY_MS - (Date.now() % DAY_MS);
if (left < LAST_MS) await sleep(left + 100);
