import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { StartableDelivery } from '#core/engine/index.ts';
import { createSealedWebhookSecrets, generateWebhookSecret } from '#core/routines/index.ts';
import { announceSlots } from '#core/runs/index.ts';
import { claimDueDeliveries } from '#core/webhooks/due.ts';
import {
  attemptDelivery,
  enqueueDelivery,
  type AttemptDeps,
  type AttemptOutcome,
  type EndedRun,
} from '#core/webhooks/index.ts';
import { execute, row, sql, transaction, type Database } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import { endedRun } from './ended-run.ts';
import type { Log } from '#lib/log.ts';
import { createOutboundClient } from '#lib/outbound/index.ts';
import { createSecretBox } from '#lib/secrets/index.ts';
import { createTestDatabase } from '#test/support/database.ts';

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
  deps: AttemptDeps & { database: Database };
  /** Returns everything logged so far. */
  logged: () => string;
  createRoutine: (webhookUrl: string | null) => Promise<Routine>;
  createRun: (routine: Routine, ending?: Partial<EndedRun>) => Promise<EndedRun>;
  /** Ends a run of the routine and queues its event. */
  queue: (
    routine: Routine,
    webhookUrl: string,
    ending?: Partial<EndedRun>,
  ) => Promise<StartableDelivery>;
  /** Claims what is due, with room for far more than there is. */
  claim: (limit?: number) => Promise<StartableDelivery[]>;
  /** Lets all waiting and all leases of the delivery be over. */
  passTime: (deliveryId: string) => Promise<void>;
  attempt: (delivery: { id: string }, over?: Partial<AttemptDeps>) => Promise<AttemptOutcome>;
  read: (delivery: { id: string }) => Promise<DeliveryRow>;
  stop: () => Promise<void>;
}

const TASK_QUEUE = 'world';

/** A database with everything that deliveries need. */
export async function startWorld(options: { poolSize?: number } = {}): Promise<World> {
  const testDatabase = await createTestDatabase(options.poolSize);
  const { database } = testDatabase;
  const { log, logged } = recordedLog();
  const webhookSecrets = createSealedWebhookSecrets(
    createSecretBox({ current: Buffer.alloc(32, 7).toString('base64') }),
  );
  const outbound = createOutboundClient({ allowPrivateNetwork: true });
  const deps = { database, log, webhookSecrets, outbound };
  const createRun: World['createRun'] = (routine, ending) => insertRun(database, routine, ending);

  return {
    deps,
    logged,
    createRun,
    async createRoutine(webhookUrl) {
      const routine = {
        id: newId('routine'),
        projectId: newId('project'),
        webhookSecret: generateWebhookSecret(),
      };
      const sealed = webhookSecrets.seal(routine.id, routine.webhookSecret);
      await insertRoutine(database, routine, webhookUrl, sealed);
      return routine;
    },
    async queue(routine, webhookUrl, ending) {
      const run = await createRun(routine, ending);
      const delivery = await transaction(database, (tx) =>
        enqueueDelivery(tx, { ...run, webhookUrl, webhookFailedAt: null }),
      );
      if (delivery === undefined) throw new Error('nothing was queued');
      return delivery;
    },
    async claim(limit = 1_000) {
      await announceSlots(database, { workerId: 'world', taskQueue: TASK_QUEUE, slots: 10_000 });
      return claimDueDeliveries(database, TASK_QUEUE, limit);
    },
    async passTime(deliveryId) {
      await execute(
        database,
        sql`
          update webhook_deliveries
          set next_attempt_at = least(next_attempt_at, now() - interval '1 second'),
            claimed_until = least(claimed_until, now() - interval '1 second')
          where id = ${deliveryId}
        `,
      );
    },
    attempt: ({ id }, over = {}) => attemptDelivery({ ...deps, ...over }, id),
    async read({ id }) {
      const found = await row<DeliveryRow>(
        database,
        sql`
          select state, reason, attempt_count as attempts, body, finished_at is not null as finished,
            (extract(epoch from next_attempt_at - now()) * 1000)::float8 as "waitMs"
          from webhook_deliveries where id = ${id}
        `,
      );
      return found!;
    },
    async stop() {
      await outbound.close();
      await testDatabase.drop();
    },
  };
}

async function insertRoutine(
  database: Database,
  { id, projectId }: Routine,
  webhookUrl: string | null,
  sealedSecret: string,
): Promise<void> {
  const organizationId = newId('organization');
  await execute(
    database,
    sql`insert into organizations (id, name) values (${organizationId}, 'Org')`,
  );
  await execute(
    database,
    sql`insert into projects (id, organization_id, name) values (${projectId}, ${organizationId}, 'Project')`,
  );
  await execute(
    database,
    sql`
      insert into routines (
        id, project_id, name, instructions, schedule, timezone, model_provider, model_id, max_steps,
        timeout_seconds, webhook_url, webhook_secret
      ) values (
        ${id}, ${projectId}, 'Routine', 'Do it.', '0 9 * * *', 'UTC', 'gateway', 'model-1', 25, 900,
        ${webhookUrl}, ${sealedSecret}
      )
    `,
  );
}

async function insertRun(
  database: Database,
  routine: Routine,
  ending: Partial<EndedRun> = {},
): Promise<EndedRun> {
  const run = endedRun({
    id: newId('run'),
    routineId: routine.id,
    projectId: routine.projectId,
    ...ending,
  });
  await execute(
    database,
    sql`
      insert into runs (
        id, organization_id, project_id, routine_id, routine_revision, trigger, state, max_steps, timeout_seconds,
        finished_at
      ) values (
        ${run.id}, (select organization_id from projects where id = ${run.projectId}), ${run.projectId}, ${run.routineId}, 1, ${run.trigger}, ${run.state}, 25, 900, ${run.finishedAt}
      )
    `,
  );
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
