import type { Engine } from '#core/foundation/engine/index.ts';
import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Mailer } from '#lib/mail.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { Tracing } from '#lib/tracing.ts';
import type { Emit } from '#core/events.ts';

/**
 * The parts that `openServices` gives to every subject. A function names the parts that it uses, `Pick<Core, 'database'
 * | 'log'>`, and gets parts of other subjects as further arguments.
 */
export interface Core {
  readonly database: Database;
  readonly emit: Emit;
  readonly engine: Engine;
  /**
   * Starts work that a transaction has queued: `deliveries`, `actions`, `proposals`, or one kind of the work queue.
   * `doNow` of `core/scheduling` does the work.
   */
  readonly work: Nudges;
  readonly outbound: OutboundClient;
  /** Seals secrets in rows. */
  readonly secrets: SecretBox;
  /** Sends mails; undefined without a mail server. */
  readonly mailer: Mailer | undefined;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The build of this process; undefined if runs do not stay on their build. */
  readonly buildId: string | undefined;
  /** Origin of the dashboard, for links in mails and returns from sign-ins. */
  readonly uiOrigin: string;
  /** Recipient of business enquiries; undefined if enquiries stay in their table. */
  readonly leadsEmail: string | undefined;
  readonly auditRetentionDays: number;
  /** US dollars a month that an organization may spend on the operator's models; undefined for no limit. */
  readonly maxCostUsdPerOrganization: string | undefined;
  /** Returns true when routines of this model provider may run now. */
  readonly providerEnabled: (provider: string) => boolean;
}

/** Begins rounds of work in the background, for callers that must not wait. A tick repeats rounds that fail. */
export interface Nudges {
  /** Starts a round for due work. If a round is under way, another round follows. */
  nudge(name: string): void;
  /** Resolves when no round is under way. */
  idle(): Promise<void>;
}
