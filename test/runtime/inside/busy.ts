/** Runs within a sandbox: computes without end when its last argument begins so, and waits otherwise. */
if (process.argv.at(-1)?.startsWith('busy')) for (;;);
setInterval(() => undefined, 60_000);
