/** Time for which the runtime goes on with a call without a caller, who may come back. */
export const LONELY_MS = 45_000;
