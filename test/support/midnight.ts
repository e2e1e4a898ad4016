import { setTimeout as sleep } from 'node:timers/promises';

const DAY_MS = 86_400_000;
/** Time within which most files end. */
const LAST_MS = 45_000;

// Usage is counted by UTC day. Let a file that would begin at the end of a day wait for the next day, so that all of
// its usage belongs to one day.
const left = DAY_MS - (Date.now() % DAY_MS);
if (left < LAST_MS) await sleep(left + 100);
