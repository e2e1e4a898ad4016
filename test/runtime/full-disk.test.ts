import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { HAS_BUBBLEWRAP, WHY_SKIPPED } from './bubblewrap.ts';
import { createRig, runOn } from './rig.ts';

/** Starts a runtime whose state folder is a disk of its own, which the test can fill. */
async function open() {
  const rig = await createRig();
  onTestFinished(() => rig.close());
  const folder = `${rig.folder}/state`;
  const disk = ['--perms', '0700', '--size', String(2 * 1024 * 1024), '--tmpfs', folder];
  const runtime = await rig.spawn(
    // A second sandbox inside this one would need another user namespace.
    { MODEL_RUNTIME_SANDBOX: 'process' },
    { wrap: ['bwrap', '--die-with-parent', '--dev-bind', '/', '/', ...disk, '--'] },
  );
  const pid = /"pid":(\d+)/.exec(runtime.output())?.[1];
  const filler = `/proc/${pid}/root${folder}/filler`;
  const client = rig.client(runtime.port);
  const { instanceId } = await client.hello();
  return {
    rig,
    runtime,
    client,
    call: () => runOn(rig, instanceId),
    asked: () => rig.providers.control.requests().length,
    fill: () => fillDisk(filler),
    free: () => rmSync(filler),
  };
}

function fillDisk(file: string): void {
  const fd = openSync(file, 'w');
  try {
    for (const size of [64 * 1024, 1]) {
      const bytes = Buffer.alloc(size);
      while (writesAll(fd, bytes)) continue;
    }
  } finally {
    closeSync(fd);
  }
}

function writesAll(fd: number, bytes: Buffer): boolean {
  try {
    return writeSync(fd, bytes) === bytes.length;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}

test.skipIf(!HAS_BUBBLEWRAP)(
  `a full disk begins no call, and the provider is not asked; with room again it goes on${WHY_SKIPPED}`,
  async () => {
    const { client, call, asked, fill, free, runtime } = await open();
    await client.run(call());
    expect(asked()).toBe(1);
    fill();
    const failed = call();
    await expect(client.run(failed)).rejects.toMatchObject({
      name: 'RuntimeUnreachable',
      reason: 'failing',
    });
    expect(asked()).toBe(1);
    await runtime.until('the state cannot be written');
    free();
    expect(await client.run(failed)).toMatchObject({ finishReason: 'stop' });
    expect(asked()).toBe(2);
  },
);

test.skipIf(!HAS_BUBBLEWRAP)(
  `a disk that is full when a call ends gives its result to who waits, and later an unknown outcome${WHY_SKIPPED}`,
  async () => {
    const { rig, client, call, asked, fill, runtime } = await open();
    rig.providers.control.script({ kind: 'slow', pauseMs: 300 });
    const under = call();
    const running = client.run(under);
    await expect.poll(asked).toBe(1);
    fill();
    expect(await running).toMatchObject({ finishReason: 'stop' });
    await runtime.until('a result was not stored');
    await expect(client.run(under)).rejects.toMatchObject({ code: 'unknown_outcome' });
    expect(asked()).toBe(1);
  },
);
