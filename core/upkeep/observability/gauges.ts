import { oldestUnsynced } from '#core/accounts/billing/index.ts';
import type { RetentionRule } from '#core/accounts/settings/index.ts';
import { oldestUnsentMail } from '#core/foundation/outbox/index.ts';
import { failedWork, unknownWork } from '#core/foundation/work/index.ts';
import { openBreakers } from '#core/execution/breaker/index.ts';
import { retentionBacklog } from '#core/execution/retention/index.ts';
import type { RunFeed } from '#core/execution/run-events/index.ts';
import type { Database, Db } from '#lib/database/index.ts';
import { Gauge, type Registry } from '#lib/metrics/index.ts';

/** The value of each gauge: an age in seconds, or a count of rows; 0 when no row waits. */
type Backlog = Readonly<Record<(typeof GAUGES)[number]['figure'], number>>;

interface Known {
  readonly retention: RetentionRule;
  /** Names of the kinds of due work of this release. */
  readonly kinds: readonly string[];
}

/**
 * Counts at each scrape the rows that wait in Postgres. Each figure reads a partial index, so its cost grows with the
 * open rows. Every process reports the same figures, so take the maximum. While Postgres is down the figures are NaN.
 */
export function watchBacklog(registry: Registry, database: Db, known: Known): void {
  // A scrape reads all gauges at once, so the gauges share one query.
  let reading: Promise<Backlog | undefined> | undefined;
  const current = () =>
    (reading ??= readBacklog(database, known)
      .catch(() => undefined)
      .finally(() => {
        reading = undefined;
      }));
  for (const { name, help, figure } of GAUGES) {
    // oxlint-disable-next-line no-new -- a gauge belongs to the registry it puts itself on
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set((await current())?.[figure] ?? NaN);
      },
    });
  }
}

const GAUGES = [
  {
    name: 'ras_scheduler_overdue_seconds',
    help: 'How long the oldest due occurrence that no tick has claimed has been waiting.',
    figure: 'overdue',
  },
  {
    name: 'ras_queue_outbox_runs',
    help: 'Queued runs whose workflow has not been started, counted up to 10,000.',
    figure: 'outbox',
  },
  {
    name: 'ras_queue_oldest_seconds',
    help: 'How long the oldest queued run has been waiting for its first step to begin; backfills aside.',
    figure: 'queueAge',
  },
  {
    name: 'ras_webhook_oldest_due_seconds',
    help: 'How long the oldest due webhook delivery has been waiting for its attempt.',
    figure: 'deliveryAge',
  },
  {
    name: 'ras_model_breakers_open',
    help: 'Model accounts whose routines are held back because their provider is unavailable.',
    figure: 'openBreakers',
  },
  {
    name: 'ras_payment_oldest_unsynced_seconds',
    help: 'How long the oldest event of a payment has been waiting for the subscriptions of its customer to be listed.',
    figure: 'paymentAge',
  },
  {
    name: 'ras_mail_oldest_unsent_seconds',
    help: 'How long the oldest mail that has not been sent has been waiting, between attempts included.',
    figure: 'mailAge',
  },
  {
    name: 'ras_work_failed',
    help: 'Rows of due work that were given up and wait for an operator, counted up to 10,000.',
    figure: 'failedWork',
  },
  {
    name: 'ras_work_unknown',
    help: 'Rows of due work of kinds that this release does not know, counted up to 10,000.',
    figure: 'unknownWork',
  },
  {
    name: 'ras_retention_content_overdue_seconds',
    help: 'How long the content of the oldest run that is to be erased has been past its days.',
    figure: 'contentOverdue',
  },
  {
    name: 'ras_retention_runs_overdue_seconds',
    help: 'How long the oldest run that is to be deleted has been past its days.',
    figure: 'runsOverdue',
  },
] as const;

function readBacklog(db: Db, { retention, kinds }: Known): Promise<Backlog | undefined> {
  const overdue = retentionBacklog(retention);
  return db.row<Backlog>`
    select
      coalesce((
        select greatest(extract(epoch from now() - min(next_run_at)), 0) from routines
        where state = 'active' and next_run_at is not null
      ), 0)::float8 as overdue,
      (
        select count(*) from (
          select from runs where state = 'queued' and workflow_started_at is null and not held limit 10000
        ) waiting
      ) as outbox,
      coalesce((
        select extract(epoch from now() - min(coalesce(run_at, created_at))) from runs
        where state = 'queued' and not held and trigger <> 'backfill'
      ), 0)::float8 as "queueAge",
      coalesce((
        select greatest(extract(epoch from now() - min(greatest(next_attempt_at, claimed_until))), 0)
        from webhook_deliveries where state in ('pending', 'sending')
      ), 0)::float8 as "deliveryAge",
      ${openBreakers} as "openBreakers",
      ${oldestUnsynced} as "paymentAge",
      ${oldestUnsentMail} as "mailAge",
      ${failedWork} as "failedWork",
      ${unknownWork(kinds)} as "unknownWork",
      ${overdue.content} as "contentOverdue",
      ${overdue.runs} as "runsOverdue"
  `;
}

/** Measures the connections of this process's pool. Waiting callers are the first sign that the pool is too small. */
export function watchPool(registry: Registry, database: Database): void {
  // oxlint-disable-next-line no-new -- a gauge belongs to the registry it puts itself on
  new Gauge({
    name: 'ras_database_pool_connections',
    help: 'Connections of the Postgres pool: total, idle, and callers waiting for one.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      this.set({ state: 'total' }, database.totalCount);
      this.set({ state: 'idle' }, database.idleCount);
      this.set({ state: 'waiting' }, database.waitingCount);
    },
  });
}

export function watchFeed(registry: Registry, feed: Pick<RunFeed, 'streams'>): void {
  // oxlint-disable-next-line no-new -- a gauge belongs to the registry it puts itself on
  new Gauge({
    name: 'ras_event_streams',
    help: 'Event streams of runs that this process has open.',
    registers: [registry],
    collect() {
      this.set(feed.streams());
    },
  });
}
