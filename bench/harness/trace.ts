import { z } from 'zod';

const trace = z.object({
  traceEvents: z.array(
    z.looseObject({
      name: z.string(),
      ph: z.string(),
      pid: z.number(),
      tid: z.number(),
      /** Microseconds. */
      dur: z.number().optional(),
      args: z.unknown(),
    }),
  ),
});

const threadName = z.object({ name: z.string() });

/** Returns the milliseconds of the longest task of a renderer's main thread in a trace of Chromium. */
export function longestTask(recorded: Buffer): number {
  const { traceEvents } = trace.parse(JSON.parse(recorded.toString('utf8')));
  const main = new Set(
    traceEvents
      .filter(
        ({ name, args }) =>
          name === 'thread_name' && threadName.safeParse(args).data?.name === 'CrRendererMain',
      )
      .map(({ pid, tid }) => `${pid}/${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && main.has(`${pid}/${tid}`),
  );
  if (tasks.length === 0) throw new Error('the trace has no task of a main thread');
  return Math.max(...tasks.map(({ dur }) => dur ?? 0)) / 1_000;
}
