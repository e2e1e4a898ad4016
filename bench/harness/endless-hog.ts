/** Runs within a sandbox, and forks, writes or allocates without end: which of them, its last argument says. */
import fs from 'node:fs';

const hogs: Readonly<Record<string, () => void>> = {
  // Each is refused, so it goes on to the next.
  forks: () => process.execve?.('/usr/bin/perl', ['perl', '-e', 'while (1) { fork }'], {}),
  writes() {
    const chunk = Buffer.alloc(1024 * 1024, 1);
    const fd = fs.openSync('/tmp/file', 'w');
    for (;;) {
      try {
        fs.writeSync(fd, chunk);
      } catch {
        fs.ftruncateSync(fd);
      }
    }
  },
  allocates() {
    let taken: Buffer[] = [];
    for (;;) {
      try {
        taken.push(Buffer.alloc(64 * 1024 * 1024, 1));
      } catch {
        taken = [];
      }
    }
  },
};

const [hog = ''] = process.argv.slice(-1);
hogs[hog]?.();
