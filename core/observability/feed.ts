import type { RunFeed } from '#core/runs/index.ts';
import { Gauge, type Registry } from '#lib/metrics/index.ts';

/** Measures the event streams of this process, and whether it hears of changes or has to poll for them. */
export function watchFeed(registry: Registry, feed: Pick<RunFeed, 'status'>): void {
  const registers = [registry];
  // oxlint-disable-next-line no-new -- a gauge belongs to the registry it puts itself on
  new Gauge({
    name: 'ras_event_streams',
    help: 'Event streams of runs that this process has open.',
    registers,
    collect() {
      this.set(feed.status().streams);
    },
  });
  // oxlint-disable-next-line no-new -- as above
  new Gauge({
    name: 'ras_event_streams_polling',
    help: '1 while streams are open and Postgres does not notify of changes, so that they are polled for; else 0.',
    registers,
    collect() {
      const { streams, live } = feed.status();
      this.set(streams > 0 && !live ? 1 : 0);
    },
  });
}
