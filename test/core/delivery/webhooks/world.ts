import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { StartableDelivery } from '#core/foundation/engine/index.ts';
import { createSealedWebhookSecrets } from '#core/authoring/routines/index.ts';
import { generateWebhookSecret } from '#core/authoring/routines/webhook.ts';
import { announceSlots } from '#core/execution/admission/index.ts';
import { claimDueDeliveries } from '#core/delivery/webhooks/start.ts';
import {
  attemptDelivery,
  enqueueDelivery,
  type AttemptDeps,
  type AttemptOutcome,
  type ReportedRun,
} from '#core/delivery/webhooks/index.ts';
import { sql, transaction, type Database, type Sql } from '#lib/database/index.ts';
import type { EndDeps } from '#core/execution/runs/index.ts';
import { newId } from '#lib/ids.ts';
import type { Log } from '#lib/log.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { plantRoutine } from '#test/core/scheduling/planted.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { dyingProcess } from '#test/support/end-deps.ts';
import { ago, changeDeliveries, changeRoutines, plantRun } from '#test/support/given.ts';
import { endedRun } from './ended-run.ts';

export interface Routine {
  id: string;
  projectId: string;
  webhookSecret: string;
}

export interface DeliveryRow {
  state: string;
  reason: string | null;
  attempts: number;
  body: string;
  /** Time until the next attempt, as the database sees it. */
  waitMs: number | null;
  finished: boolean;
}

export interface World {
  deps: AttemptDeps & Pick<EndDeps, 'work'> & { database: Database };
  /** Returns the log so far. */
  logged: () => string;
  createRoutine: (webhookUrl: string | null) => Promise<Routine>;
  createRun: (routine: Routine, ending?: Partial<ReportedRun>) => Promise<ReportedRun>;
  /** Ends a run of the routine and queues its event. */
  queue: (routine: Routine, webhookUrl: string, ending?: Partial<ReportedRun>) => Promise<StartableDelivery>;
  /** Claims all due deliveries; the limit is far above their number. */
  claim: (limit?: number) => Promise<StartableDelivery[]>;
  /** Ends all waits and leases of the delivery. */
  passTime: (deliveryId: string) => Promise<void>;
  attempt: (delivery: { id: string }, over?: Partial<AttemptDeps>) => Promise<AttemptOutcome>;
  read: (delivery: { id: string }) => Promise<DeliveryRow>;
  stop: () => Promise<void>;
}

const TASK_QUEUE = 'world';

/** Starts a database with all parts that deliveries need. */
export async function startWorld(options: { poolSize?: number } = {}): Promise<World> {
  const testDatabase = await createTestDatabase(options.poolSize);
  const { database } = testDatabase;
  const { log, logged } = recordedLog();
  const webhookSecrets = createSealedWebhookSecrets(
    createSecretBox({ current: Buffer.alloc(32, 7).toString('base64') }),
  );
  const outbound = createOutboundClient({ allowPrivateNetwork: true });
  const { work } = dyingProcess(database);
  const deps = { database, log, webhookSecrets, outbound, work };
  const createRun: World['createRun'] = (routine, ending) => insertRun(database, routine, ending);

  return {
    deps,
    logged,
    createRun,
    async createRoutine(webhookUrl) {
      const { id, projectId } = await plantRoutine(database);
      const webhookSecret = generateWebhookSecret();
      const sealed = webhookSecrets.seal(id, webhookSecret);
      await changeRoutines(database, id, { state: 'draft', webhookUrl, webhookSecret: sealed });
      return { id, projectId, webhookSecret };
    },
    async queue(routine, webhookUrl, ending) {
      const run = await createRun(routine, ending);
      await transaction(database, (tx) => enqueueDelivery(deps, tx, { ...run, webhookUrl, webhookFailedAt: null }));
      const queued = await database.row<StartableDelivery>`
        select id, 1 as attempt, project_id as "projectId" from webhook_deliveries
        where run_id = ${run.id} order by id desc limit 1
      `;
      return queued!;
    },
    async claim(limit = 1_000) {
      await announceSlots(database, { workerId: 'world', taskQueue: TASK_QUEUE, slots: 10_000 });
      return claimDueDeliveries(database, TASK_QUEUE, limit);
    },
    async passTime(deliveryId) {
      const isOver = (column: Sql) => sql`least(${column}, ${ago('1 second')})`;
      await changeDeliveries(database, deliveryId, { nextAttemptAt: isOver, claimedUntil: isOver });
    },
    attempt: ({ id }, over = {}) => attemptDelivery({ ...deps, ...over }, id),
    async read({ id }) {
      const found = await database.row<DeliveryRow>`
        select state, reason, attempt_count as attempts, body, finished_at is not null as finished,
          (extract(epoch from next_attempt_at - now()) * 1000)::float8 as "waitMs"
        from webhook_deliveries where id = ${id}
      `;
      return found!;
    },
    async stop() {
      await outbound.close();
      await testDatabase.drop();
    },
  };
}

async function insertRun(
  database: Database,
  routine: Routine,
  ending: Partial<ReportedRun> = {},
): Promise<ReportedRun> {
  const run = endedRun({
    id: newId('run'),
    routineId: routine.id,
    projectId: routine.projectId,
    ...ending,
  });
  const { id, trigger, state, finishedAt } = run;
  await plantRun(database, routine.id, { id, trigger, state, finishedAt });
  return run;
}

function recordedLog(): { log: Log; logged: () => string } {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: 'trace' }, destination), logged: () => lines.join('') };
}
