/** For how long the runtime goes on with a call when its last caller is gone: the caller, or another, may come back. */
export const LONELY_MS = 45_000;
