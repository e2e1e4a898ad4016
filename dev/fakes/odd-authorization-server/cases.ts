import type { OddCase } from './odd-case.ts';
import { RENEWALS } from './renewal-cases.ts';
import { SIGN_INS } from './sign-in-cases.ts';

/** All cases: a fault that a server showed somewhere is added here first, and mended then. */
export const ODD_CASES: readonly OddCase[] = [...SIGN_INS, ...RENEWALS];
