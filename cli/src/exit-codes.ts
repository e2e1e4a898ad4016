/** The exit codes of all commands; scripts rely on them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** `plan --exit-code` found changes, like `terraform plan -detailed-exitcode`. */
  changes: 2,
  notSignedIn: 4,
  runFailed: 10,
  runCancelled: 11,
  runSkipped: 12,
  /** The run did not end in time. The code is that of `timeout` of coreutils. */
  timedOut: 124,
  /** The user pressed Ctrl-C. */
  interrupted: 130,
} as const;
