/** Runs within a sandbox: writes ten gigabytes, and prints how many megabytes were written. */
import fs from 'node:fs';

const chunk = Buffer.alloc(1024 * 1024, 1);
let written = 0;
for (let file = 0; file < 100 && written < 10_240; file += 1) {
  try {
    const fd = fs.openSync(`/tmp/${file}`, 'w');
    for (;;) {
      fs.writeSync(fd, chunk);
      written += 1;
    }
  } catch {
    // The disk is full, but the next file may be small enough.
  }
}
process.stdout.write(String(written));
