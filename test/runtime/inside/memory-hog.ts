/** Runs within a sandbox: allocates memory outside of the heap, and prints the megabytes after each allocation. */
const taken: Buffer[] = [];
for (let n = 1; n <= 100; n += 1) {
  taken.push(Buffer.alloc(64 * 1024 * 1024, n));
  process.stdout.write(`${taken.length * 64}\n`);
}
