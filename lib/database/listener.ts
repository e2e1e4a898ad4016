import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import sql from 'sql-template-tag';
import type { Log } from '../log.ts';
import { execute, type Db } from './database.ts';

/** Receives the notifications of one channel on a connection of its own. */
export interface Listener {
  /** Tells whether notifications are known to arrive. */
  isLive(): boolean;
  close(): Promise<void>;
}

export interface ListenerOptions {
  readonly url: string;
  /**
   * Sends the probes. Another connection than the listener's, so that a pooler which shares connections is found out.
   */
  readonly database: Db;
  readonly channel: string;
  readonly log: Log;
  readonly onNotification: (payload: string) => void;
  /** Called when notifications begin or cease to arrive; some may have been missed in between. */
  readonly onChange: (live: boolean) => void;
}

const PROBE_EVERY_MS = 10_000;
const PROBE_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;

/**
 * Listens until it is closed, connecting again when the connection is lost. It sends itself a probe when it has
 * connected and every ten seconds, and is live only while those arrive: `LISTEN` succeeds through a pooler in
 * transaction mode and hears nothing, and a connection that a firewall has dropped stays silent for ever.
 */
export function openListener(options: ListenerOptions): Listener {
  const { channel, log } = options;
  const closing = new AbortController();
  const name = randomUUID();
  let live = false;
  let wasLive = false;

  function setLive(now: boolean): void {
    if (live === now) return;
    live = now;
    wasLive ||= now;
    options.onChange(now);
  }

  async function listen(): Promise<never> {
    const client = new pg.Client({
      connectionString: options.url,
      application_name: 'ras-listener',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, closing.signal]);
    let onProbe: (payload: string) => void = () => undefined;
    client.on('error', () => lost.abort());
    client.on('end', () => lost.abort());
    client.on('notification', ({ payload = '' }) => {
      if (!payload.startsWith(PROBE)) options.onNotification(payload);
      else onProbe(payload);
    });

    async function probe(): Promise<void> {
      const sent = `${PROBE}${name} ${randomUUID()}`;
      const arrived = new Promise<void>((resolve) => {
        onProbe = (payload) => {
          if (payload === sent) resolve();
        };
      });
      await execute(options.database, sql`select pg_notify(${channel}, ${sent})`);
      await Promise.race([arrived, failAfter(PROBE_TIMEOUT_MS, signal)]);
    }

    try {
      await client.connect();
      await client.query(`listen ${client.escapeIdentifier(channel)}`);
      for (;;) {
        await probe();
        setLive(true);
        await pause(PROBE_EVERY_MS, signal);
      }
    } finally {
      setLive(false);
      // A connection that has gone silent would not let itself be ended in order.
      await Promise.race([client.end().catch(() => undefined), pause(1_000)]);
    }
  }

  async function keepListening(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (!closing.signal.aborted) {
      wasLive = false;
      try {
        await listen();
      } catch (err) {
        if (!closing.signal.aborted) log.warn({ err, channel }, 'notifications do not arrive');
      }
      pauseMs = wasLive ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      await pause(pauseMs, closing.signal).catch(() => undefined);
    }
  }

  const listening = keepListening();
  return {
    isLive: () => live,
    async close() {
      closing.abort();
      await listening;
    },
  };
}

const PROBE = 'probe ';

async function failAfter(ms: number, signal: AbortSignal): Promise<never> {
  await pause(ms, signal);
  throw new Error('a notification that was sent has not arrived');
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
}
