import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTickParts } from '#core/scheduling/index.ts';
import { raw, sql, withStatements } from '#lib/database/index.ts';
import { firstIdAt, newId } from '#lib/ids.ts';
import { openMailer } from '#lib/mail.ts';
import { signUp } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';
import { plantRoutine, type Planted } from './planted.ts';
import { plantRun } from '#test/support/given.ts';

let service: Service;
let planted: Planted;

beforeAll(async () => {
  // Each sign-up uses another address.
  service = await startService();
  const { database } = service.deps;
  planted = await plantRoutine(database, { schedule: '@yearly', nextRunAt: null });
});
afterAll(() => service.close());

/** Plants a row of this age, an interval of Postgres. */
type Plant = (age: string) => Promise<unknown>;

const TABLES: Record<string, { keep: string; forget: string; plant: Plant }> = {
  idempotency_keys: {
    keep: '23 hours',
    forget: '25 hours',
    plant: (age) =>
      planting(sql`insert into idempotency_keys (scope, key, request_hash, seed, locked_until, created_at)
        values ('test', ${age}, '', '', now(), now() - ${age}::interval)`),
  },
  rate_limits: {
    keep: '23 hours',
    forget: '25 hours',
    plant: (age) =>
      planting(
        sql`insert into rate_limits (credential, window_start, count) values (${age}, now() - ${age}::interval, 1)`,
      ),
  },
  model_breakers: {
    keep: '23 hours',
    forget: '25 hours',
    plant: (age) =>
      planting(
        sql`insert into model_breakers (account, failures, failed_at) values (${age}, 1, now() - ${age}::interval)`,
      ),
  },
  oauth_flows: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: async (age) => {
      const { userId } = await signUp(service);
      return planting(sql`insert into oauth_flows (state_hash, project_id, user_id, session_id, provider, sealed, expires_at)
        values (sha256(${age}::bytea), ${planted.projectId}, ${userId}, 'x', 'x', '', now() - ${age}::interval)`);
    },
  },
  terminal_sign_ins: {
    keep: '59 minutes',
    forget: '61 minutes',
    plant: (age) =>
      planting(sql`insert into terminal_sign_ins (device_hash, user_code_hash, host, address, expires_at)
        values (sha256(${age}::bytea), sha256(${age}::bytea), 'x', 'x', now() - ${age}::interval)`),
  },
  oauth_clients: {
    keep: '23 hours',
    forget: '25 hours',
    plant: (age) =>
      planting(sql`insert into oauth_clients (id, client_id, redirect_uris, created_at)
        values (${age}, ${age}, '[]', now() - ${age}::interval)`),
  },
  oauth_access_tokens: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: (age) => plantToken('oauth_access_tokens', age),
  },
  oauth_refresh_tokens: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: (age) => plantToken('oauth_refresh_tokens', age),
  },
  oauth_consents: {
    keep: '59 minutes',
    forget: '61 minutes',
    plant: async (age) => {
      const { userId, clientId } = await plantClient();
      return planting(sql`insert into oauth_consents (id, client_id, user_id, reference_id, scopes, created_at, updated_at)
        values (${age}, ${clientId}, ${userId}, ${planted.projectId}, '[]', now(), now() - ${age}::interval)`);
    },
  },
  verifications: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: (age) =>
      planting(sql`insert into verifications (id, identifier, value, expires_at)
        values (${age}, 'x', 'x', now() - ${age}::interval)`),
  },
  skills: {
    keep: '29 days',
    forget: '31 days',
    plant: (age) =>
      planting(sql`insert into skills (id, project_id, name, instructions, deleted_at)
        values (${newId('skill')}, ${planted.projectId}, ${age}, 'x', now() - ${age}::interval)`),
  },
  usage_ledger: {
    keep: '1099 days',
    forget: '1101 days',
    plant: (age) => {
      const at = new Date(Date.now() - Number.parseInt(age, 10) * 86_400_000);
      return planting(sql`insert into usage_ledger (run_id, step_index, project_id, routine_id, model_id, total_tokens, occurred_at)
        values (${firstIdAt('run', at)}, 0, ${planted.projectId}, ${planted.id}, 'x', 1, now() - ${age}::interval)`);
    },
  },
  usage_days: {
    keep: '3650 days',
    forget: '3655 days',
    plant: (age) =>
      planting(sql`insert into usage_days (project_id, day, routine_id, model_id, input_tokens, cached_input_tokens,
          output_tokens, reasoning_tokens, steps)
        values (${planted.projectId}, (now() - ${age}::interval)::date, ${planted.id}, 'x', 1, 0, 0, 0, 1)`),
  },
  invitations: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: (age) =>
      planting(sql`insert into invitations (id, organization_id, email, role, token_hash, expires_at)
        values (${newId('invitation')}, ${planted.organizationId}, ${`${age}@example.com`}, 'member',
          sha256(${age}::bytea), now() - ${age}::interval)`),
  },
  budget_notices: {
    keep: '60 days',
    forget: '64 days',
    plant: (age) =>
      planting(sql`insert into budget_notices (project_id, scope_id, budget, period, percent)
        values (${planted.projectId}, ${planted.projectId}, 'tokens_day', (now() - ${age}::interval)::date, 80)`),
  },
  audit_events: {
    keep: '399 days',
    forget: '401 days',
    plant: (age) =>
      planting(sql`insert into audit_events (id, organization_id, actor_kind, action, target_id, created_at)
        values (${newId('auditEvent')}, ${planted.organizationId}, 'system', 'key.created', ${age},
          now() - ${age}::interval)`),
  },
  webhook_deliveries: {
    keep: '89 days',
    forget: '91 days',
    plant: (age) =>
      planting(sql`
        with delivery as (
          insert into webhook_deliveries (id, organization_id, host, project_id, routine_id, event_type, body, state, finished_at)
          values (${newId('delivery')}, ${planted.organizationId}, 'x', ${planted.projectId}, ${planted.id}, 'routine.paused', '{}', 'failed',
            now() - ${age}::interval)
          returning id
        )
        insert into webhook_attempts (delivery_id, index, started_at) select id, 1, now() from delivery`),
  },
  business_leads: {
    keep: '399 days',
    forget: '401 days',
    plant: (age) =>
      planting(sql`insert into business_leads (id, name, email, company, message, created_at)
        values (${newId('lead')}, 'x', 'x', 'x', ${age}, now() - ${age}::interval)`),
  },
  model_lessons: {
    keep: '6 days',
    forget: '8 days',
    plant: (age) =>
      planting(sql`insert into model_lessons (organization_id, source, model_id, ability, value, learned_at)
        values (${planted.organizationId}, 'gateway', ${age}, 'streaming', 'false', now() - ${age}::interval)`),
  },
  live_texts: {
    keep: '23 hours',
    forget: '25 hours',
    plant: (age) =>
      planting(sql`insert into live_texts (run_id, step, attempt, piece, project_id, begins, text, written_at)
        values (${age}, 0, 1, 1, ${planted.projectId}, true, 'x', now() - ${age}::interval)`),
  },
  run_followers: {
    keep: '-1 minute',
    forget: '1 minute',
    plant: (age) =>
      planting(sql`insert into run_followers (id, organization_id, credential, leased_until)
        values (gen_random_uuid(), 'org', 'key', now() - ${age}::interval)`),
  },
};

/** Plants a client that the operator has entered, which is never deleted, and a person. */
async function plantClient(): Promise<{ userId: string; clientId: string }> {
  const { userId } = await signUp(service);
  const clientId = `client-of-${userId}`;
  await planting(sql`insert into oauth_clients (id, client_id, redirect_uris, is_dynamic)
    values (${clientId}, ${clientId}, '[]', false)`);
  return { userId, clientId };
}

async function plantToken(table: string, age: string): Promise<void> {
  const { userId, clientId } = await plantClient();
  await planting(sql`insert into ${raw(table)} (id, token, client_id, user_id, reference_id, scopes, created_at, expires_at)
    values (${age}, ${age}, ${clientId}, ${userId}, ${planted.projectId}, '[]', now(), now() - ${age}::interval)`);
}

async function planting(statement: ReturnType<typeof sql>): Promise<void> {
  await service.deps.database.run`${statement}`;
}

test.each(Object.entries(TABLES))(
  'rows of %s are deleted when their time is over, and not before',
  async (table, { keep, forget, plant }) => {
    const parts = createTickParts(service.deps);
    const count = async () => {
      const { rows: found } = await service.deps.database.query(`select count(*) from ${table}`);
      return found[0].count as number;
    };
    await parts.housekeeping(new AbortController().signal);
    const before = await count();
    await plant(keep);
    await parts.housekeeping(new AbortController().signal);
    expect(await count()).toBe(before + 1);
    await plant(forget);
    expect(await count()).toBe(before + 2);
    await parts.housekeeping(new AbortController().signal);
    expect(await count()).toBe(before + 1);
  },
);

test('expired sessions are deleted, and live ones go on', async () => {
  const { database } = service.deps;
  const [gone, live] = [await signUp(service), await signUp(service)];
  await database.run`update sessions set expires_at = now() - interval '1 minute' where user_id = ${gone.userId}`;
  await createTickParts(service.deps).housekeeping(new AbortController().signal);
  const left =
    await database.rows`select user_id as id from sessions where user_id = any(${[gone.userId, live.userId]})`;
  expect(left).toEqual([{ id: live.userId }]);
  expect((await live.session.get('/v1/organizations')).status).toBe(200);
});

test('only people who never confirmed are deleted after a month, where there is a mail server', async () => {
  const { database } = service.deps;
  const member = await signUp(service);
  const insert = (name: string, age: string, confirmed: boolean) =>
    database.run`
      insert into users (id, name, email, email_verified, created_at)
      values (${name}, ${name}, ${`${name}@example.com`}, ${confirmed}, now() - ${age}::interval)
    `;
  await insert('late', '31 days', false);
  await insert('waiting', '29 days', false);
  await insert('confirmed', '31 days', true);
  await database.run`update users set created_at = now() - interval '31 days' where id = ${member.userId}`;
  const signal = new AbortController().signal;
  const left = async () => {
    const found = await database.rows<{ id: string }>`
      select id from users where id = any(${['late', 'waiting', 'confirmed', member.userId]})
      order by created_at, id
    `;
    return found.map(({ id }) => id);
  };
  await createTickParts({ ...service.deps, mailer: undefined }).housekeeping(signal);
  expect(await left()).toContain('late');
  const mailer = openMailer({
    url: 'smtp://127.0.0.1:9',
    from: 'noreply@example.com',
    requireTls: false,
  });
  try {
    await createTickParts({ ...service.deps, mailer }).housekeeping(signal);
  } finally {
    mailer.close();
  }
  expect(new Set(await left())).toEqual(new Set(['confirmed', 'waiting', member.userId]));
});

/** Tables in which a stranger can cause a backlog. Each statement deletes a limited number of their rows. */
const BACKLOGS: Record<string, ReturnType<typeof sql>> = {
  rate_limits: sql`insert into rate_limits (credential, window_start, count)
    select 'backlog ' || n, now() - interval '2 days', 1 from generate_series(1, 2500) n`,
  audit_events: sql`insert into audit_events (id, organization_id, actor_kind, action, target_id, created_at)
    select 'backlog ' || n, 'org', 'system', 'key.created', 'x', now() - interval '500 days'
    from generate_series(1, 2500) n`,
};

test.each(Object.entries(BACKLOGS))(
  'a backlog of %s is deleted by statements that are bounded, all of it in one pass',
  async (table, plant) => {
    const { database } = service.deps;
    await database.run`${plant}`;
    const deleted: number[] = [];
    const counting = withStatements(
      Object.create(database, {
        query: {
          value: async (config: { text: string }) => {
            const result = await database.query(config);
            if (config.text.includes(`delete from ${table}`)) deleted.push(result.rowCount ?? 0);
            return result;
          },
        },
      }) as typeof database,
    );
    await createTickParts({ ...service.deps, database: counting }).housekeeping(new AbortController().signal);
    expect(deleted).toEqual([1_000, 1_000, 500]);
  },
);

test('a backlog is deleted batch by batch, and no further when it is given up', async () => {
  const { database } = service.deps;
  await database.run`
    insert into idempotency_keys (scope, key, request_hash, seed, locked_until, created_at)
    select 'backlog', n::text, '', '', now(), now() - interval '2 days' from generate_series(1, 2500) n
  `;
  const parts = createTickParts(service.deps);
  const left = () => database.row`select count(*) as count from idempotency_keys where scope = 'backlog'`;
  await expect(parts.housekeeping(AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
  expect(await left()).toEqual({ count: 2_500 });
  const signal = new AbortController().signal;
  await Promise.all([parts.housekeeping(signal), parts.housekeeping(signal)]);
  await parts.housekeeping(signal);
  expect(await left()).toEqual({ count: 0 });
});

test('runs that have waited too long are passed over, and none when that was given up', async () => {
  const { database } = service.deps;
  const id = await plantRun(database, planted.id, { queueUntil: new Date(Date.now() - 60_000) });
  const parts = createTickParts(service.deps);
  const state = () => database.row`select state, reason from runs where id = ${id}`;
  await expect(parts.expire(AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
  expect(await state()).toEqual({ state: 'queued', reason: null });
  expect(await parts.expire(new AbortController().signal)).toBe(1);
  expect(await state()).toEqual({ state: 'skipped', reason: 'queue_expired' });
});
