/** Flags with which Node starts a process anew when one of its sources changes. */
export const WATCH = [
  '--watch',
  '--watch-preserve-output',
  '--import',
  import.meta.resolve('./thread-reports.ts'),
] as const;
