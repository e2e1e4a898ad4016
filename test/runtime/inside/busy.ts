/** Runs within a sandbox: computes without end if its last argument begins with `busy`, and waits otherwise. */
if (process.argv.at(-1)?.startsWith('busy')) for (;;);
setInterval(() => undefined, 60_000);
