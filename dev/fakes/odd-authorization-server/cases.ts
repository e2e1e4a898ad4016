import type { OddCase } from './odd-case.ts';
import { RENEWALS } from './renewal-cases.ts';
import { SIGN_INS } from './sign-in-cases.ts';

/** All cases. A new fault of a server is added here first, and then the code is mended. */
export const ODD_CASES: readonly OddCase[] = [...SIGN_INS, ...RENEWALS];
