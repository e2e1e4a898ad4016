import { execFile } from 'node:child_process';
import { dyingProcess } from '#test/support/end-deps.ts';
import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertFlow, takeFlow } from '#core/integrations/connections/oauth/flows.ts';
import { readSealedCredentials, createConnectionSecrets } from '#core/integrations/connections/store/credentials.ts';
import { keepForRevocation } from '#core/models/connections/revoke.ts';
import { insertAttempt } from '#core/models/connections/sign-in/attempt-queries.ts';
import { sealCredential } from '#core/models/connections/store/credential.ts';
import { createAccountMails } from '#core/foundation/outbox/index.ts';
import { createSealedWebhookSecrets } from '#core/authoring/routines/index.ts';
import { newId } from '#lib/ids.ts';
import {
  checkEncryptionKey,
  createSecretBox,
  rotateSecrets,
  SEALED_COLUMNS,
  type SecretBox,
} from '#lib/secrets/index.ts';
import type { ApiClient } from '#test/support/client.ts';
import { changeRoutines, plantAccounts, plantConnection } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { createRoutine, routineBody } from '#test/support/routines.ts';
import { addSecondFactor } from '#test/support/second-factor.ts';
import { startService, type Service } from '#test/support/service.ts';

const keys = Array.from({ length: 3 }, () => randomBytes(32).toString('base64'));
const [first, second, third] = keys as [string, string, string];
const IDEMPOTENT = { 'Idempotency-Key': 'rotation-0001' };

let service: Service;
let person: Person;
let key: ApiClient;

beforeAll(async () => {
  service = await startService({ env: { ENCRYPTION_KEY: first } });
  person = await signUp(service);
  key = await person.key();
});
afterAll(() => service.close());

async function sealedTexts(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const { table, column } of SEALED_COLUMNS) {
    const { rows } = await service.deps.database.query<{ sealed: string }>(
      `select "${column}" as sealed from ${table} where "${column}" is not null`,
    );
    found[`${table}.${column}`] = rows.map(({ sealed }) => sealed);
  }
  return found;
}

test('the list names every place that the code seals to, and every place is a column of the list', async () => {
  const { readFile, glob } = await import('node:fs/promises');
  const places: string[] = [];
  for await (const file of glob('{core,api,activities,lib}/**/*.ts')) {
    const text = await readFile(file, 'utf8');
    for (const [, table, column] of text.matchAll(/table: '(\w+)',\s*row[^}]*?column: '(\w+)',?\s*\}/g)) {
      places.push(`${table}.${column}`);
    }
  }
  const listed = SEALED_COLUMNS.map(({ table, column, sealedAs }) => `${table}.${sealedAs ?? column}`);
  expect(new Set(places)).toEqual(new Set(listed));
});

test('no column outside the list holds a sealed text, and after a rotation the old key opens nothing and the new one all', async () => {
  const database = service.deps.database;
  // The product's own code writes one sealed text into every column of the list.
  const webhook = await key.with(IDEMPOTENT).post('/v1/routines', {
    ...routineBody(),
    webhookUrl: 'https://hooks.example.com/in',
  });
  const routineId = webhook.data.id as string;
  const firstSecret = webhook.data.webhookSecret as string;
  const rotated = await key.post(`/v1/routines/${routineId}/webhook-secret`);
  const secondSecret = rotated.data.webhookSecret as string;
  const connectionId = newId('connection');
  await plantConnection(service, person.projectId, {
    id: connectionId,
    url: 'https://tools.example.com/mcp?api_key=opaque-too',
    token: 'opaque',
  });
  await insertFlow(database, service.deps.secrets, 'a-state', flowOwner(), FLOW_SECRETS);
  await sealModelAccount();
  await sealMail();
  const url = 'https://hooks.slack.com/services/T0000/B0000/abcdefgh';
  expect((await person.session.post('/v1/chats', { name: 'Team', url })).status).toBe(201);
  await checkEncryptionKey(database, service.deps.secrets);
  const { secret } = await addSecondFactor(database, person);
  const before = await sealedTexts();
  expect(Object.entries(before).filter(([, texts]) => texts.length === 0)).toEqual([]);
  expect(await columnsWithSealedTexts()).toEqual(new Set(Object.keys(before)));

  const { stdout } = await rotate({ ENCRYPTION_KEY: second, ENCRYPTION_KEY_PREVIOUS: first });
  expect(stdout).toContain('the previous key can be deleted');
  const after = await sealedTexts();
  for (const [column, texts] of Object.entries(after)) {
    expect(texts).toHaveLength(before[column]!.length);
    expect(texts.every((text) => text.startsWith(`v1.${keyId(second)}.`))).toBe(true);
  }

  const box = createSecretBox({ current: second });
  const webhooks = createSealedWebhookSecrets(box);
  const [row] = (
    await database.query(`select webhook_secret, webhook_secret_previous from routines where id = $1`, [routineId])
  ).rows;
  expect(webhooks.open(routineId, row.webhook_secret)).toBe(secondSecret);
  expect(webhooks.open(routineId, row.webhook_secret_previous)).toBe(firstSecret);
  const { credentials } = await readSealedCredentials(database, {
    id: connectionId,
    projectId: person.projectId,
  });
  expect(createConnectionSecrets(box).open(connectionId, credentials!)).toEqual({
    token: 'opaque',
  });
  expect(await takeFlowWith(box)).toMatchObject({ verifier: 'the-verifier' });

  const [factor] = (await database.query(`select secret from second_factors where user_id = $1`, [person.userId])).rows;
  const place = { table: 'second_factors', row: person.userId, column: 'secret' };
  expect(box.open(factor.secret, place)).toBe(secret);

  const replica = await service.replica({ ENCRYPTION_KEY: second });
  try {
    const replay = await fetch(`${replica.url}/v1/routines`, {
      method: 'POST',
      headers: { ...key.headers, ...IDEMPOTENT, 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...routineBody(), webhookUrl: 'https://hooks.example.com/in' }),
    });
    expect(replay.headers.get('idempotent-replayed')).toBe('true');
    expect(await replay.json()).toMatchObject({ data: { id: routineId, webhookSecret: null } });
  } finally {
    await replica.close();
  }
});

test('a rotation goes on in batches from wherever one was broken off, beside writers', async () => {
  const database = service.deps.database;
  const forward = createSecretBox({ current: third, previous: second });
  const webhooks = createSealedWebhookSecrets(createSecretBox({ current: second }));
  const ids: string[] = [];
  for (let index = 0; index < 25; index += 1) {
    const id = await createRoutine(key, { webhookUrl: 'https://hooks.example.com/in' });
    await changeRoutines(database, id, { webhookSecret: webhooks.seal(id, `secret ${index}`) });
    ids.push(id);
  }
  // The rotation breaks off after some rows: the second batch fails without the database.
  let batches = 0;
  const breaking = Object.create(database, {
    connect: {
      value: () => {
        batches += 1;
        if (batches > 2) throw new Error('broken off');
        return database.connect();
      },
    },
  }) as typeof database;
  await expect(rotateSecrets(breaking, forward, { batchSize: 5 })).rejects.toThrow('broken off');
  expect(await countUnder(third)).toBe(10);
  const [routines] = await rotateSecrets(database, forward, { batchSize: 5 });
  expect(routines!.rotated + 10).toBe(await countUnder(third));
  const again = await rotateSecrets(database, forward, { batchSize: 5 });
  expect(again.map(({ rotated, unreadable }) => rotated + unreadable)).toEqual(SEALED_COLUMNS.map(() => 0));
  const opened = createSealedWebhookSecrets(createSecretBox({ current: third }));
  const { rows } = await database.query('select id, webhook_secret from routines where id = any($1)', [ids]);
  expect(rows.map(({ id, webhook_secret: sealed }) => opened.open(id, sealed)).toSorted()).toEqual(
    ids.map((_, index) => `secret ${index}`).toSorted(),
  );
});

test('texts that neither key opens are left alone, counted, and make the command fail', async () => {
  const failed = await rotate({ ENCRYPTION_KEY: first, ENCRYPTION_KEY_PREVIOUS: second }).catch(
    (error: { code: number; stdout: string }) => error,
  );
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.stdout).toContain('neither key opens these');
  expect(failed.stdout).not.toContain(first);
  expect(await countUnder(third)).toBeGreaterThanOrEqual(26);
});

const MODEL_CREDENTIAL = { kind: 'api_key', key: 'sk-opaque' } as const;

/** Makes a personal model account, its sign-in and its revocation, each with sealed texts. */
async function sealModelAccount(): Promise<void> {
  const { database, secrets } = service.deps;
  const id = newId('modelConnection');
  const { projectId } = person;
  const credential = sealCredential(secrets, id, MODEL_CREDENTIAL);
  await plantAccounts(database, projectId, { id, credential });
  await keepForRevocation(database, secrets, id, MODEL_CREDENTIAL);
  await insertAttempt(database, secrets, {
    id: newId('attempt'),
    projectId,
    userId: person.userId,
    sessionId: 'session',
    provider: 'provider-b',
    fileHash: 'x',
    connectionId: null,
    stateHash: null,
    secrets: { kind: 'oauth', verifier: 'v', nonce: 'n', redirectUri: 'https://ui.example/' },
    intervalSeconds: null,
    expiresInSeconds: 600,
  });
}

/** Makes a mail about an account that waits for a mail server which never answers. */
async function sealMail(): Promise<void> {
  const { database, secrets } = service.deps;
  const mail = { to: person.email, subject: 'Confirm', text: 'Open this.', seconds: 3_600 };
  await createAccountMails({ secrets, work: dyingProcess(database).work }).queue(database, mail);
}

const run = promisify(execFile);

function rotate(environment: Record<string, string>) {
  return run(process.execPath, ['workers/rotate-keys.ts'], {
    env: { ...environment, DATABASE_URL: service.databaseUrl, NODE_ENV: 'production' },
  });
}

function keyId(base64: string) {
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex').slice(0, 8);
}

async function countUnder(encryptionKey: string): Promise<number> {
  const { 'routines.webhook_secret': texts } = await sealedTexts();
  return texts!.filter((text) => text.startsWith(`v1.${keyId(encryptionKey)}.`)).length;
}

/** Searches every text column of every table for sealed texts. */
async function columnsWithSealedTexts(): Promise<Set<string>> {
  const { rows } = await service.deps.database.query<{ table: string; column: string }>(`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type in ('text', 'jsonb', 'character varying')
  `);
  const found = new Set<string>();
  for (const { table, column } of rows) {
    const { rowCount } = await service.deps.database.query(
      `select from "${table}" where "${column}"::text ~ 'v1\\.[0-9a-f]{8}\\.' limit 1`,
    );
    if (rowCount === 1) found.add(`${table}.${column}`);
  }
  return found;
}

function flowOwner() {
  const { projectId, userId } = person;
  return {
    projectId,
    userId,
    sessionId: 'a-session',
    provider: 'example',
    connectionId: null,
    name: 'Tools',
  };
}

const FLOW_SECRETS = {
  verifier: 'the-verifier',
  issued: null,
  url: null,
  resource: null,
  scope: null,
};

function takeFlowWith(box: SecretBox) {
  return takeFlow(service.deps.database, box, {
    state: 'a-state',
    userId: person.userId,
    sessionId: 'a-session',
    callback: 'example',
  });
}
