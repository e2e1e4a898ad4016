/** Runs within a sandbox: becomes a shell that forks as long as it can. */
process.execve?.('/usr/bin/sh', ['sh', '-c', 'echo began; b() { b | b & }; b; echo forked'], {});
