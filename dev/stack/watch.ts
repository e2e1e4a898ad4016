/** Flags with which Node restarts a process when one of its sources changes. */
export const WATCH = [
  '--watch',
  '--watch-preserve-output',
  '--import',
  import.meta.resolve('./thread-reports.ts'),
] as const;
