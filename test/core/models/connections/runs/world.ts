import path from 'node:path';
import { writeFileSync } from 'node:fs';
import { recordCatalogue } from '#core/models/connections/catalogue.ts';
import { sealCredential, type ModelCredential } from '#core/models/connections/store/credential.ts';
import { freePort } from '#dev/stack/ports.ts';
import { FIXTURE_KEY } from '#dev/fakes/providers/server.ts';
import { AT_ONCE, transaction } from '#lib/database/index.ts';
import { newId } from '#lib/ids.ts';
import type { ProviderSlot } from '#lib/provider-file/index.ts';
import { createRig, type Rig, type RigOptions } from '#test/runtime/rig.ts';
import type { ApiClient } from '#test/support/client.ts';
import { fallDue, plantAccounts } from '#test/support/given.ts';
import { signUp, type Person } from '#test/support/people.ts';
import { startService, type Service } from '#test/support/service.ts';

export const MODEL = 'fixture/account-small';

/** A service with connected providers, and all that a runtime for it needs. The test starts the runtime. */
export interface World {
  readonly rig: Rig;
  readonly service: Service;
  readonly ada: Person;
  readonly key: ApiClient;
  /** Variables of API and workers that name the runtime. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of a runtime at the address in `env`. */
  readonly runtimeEnv: Readonly<Record<string, string>>;
  /** Counts the requests for a completion that the providers got. */
  asked(): number;
  /** Connects an account with the fixture's catalogue, and returns its id. */
  account(slot: ProviderSlot, options?: AccountOptions): Promise<string>;
  /** Activates a routine, makes an occurrence due, and returns the run that a tick made of it. */
  occurrence(routineId: string): Promise<{ readonly id: string; readonly state: string }>;
  /** Reads every call of a run from the ledger of account calls. */
  calls(runId: string): Promise<LedgerRow[]>;
  close(): Promise<void>;
}

export interface AccountOptions {
  readonly credential?: string;
  /** Refresh token of an account for sign-ins; without it the service renews nothing. */
  readonly refreshToken?: string;
  readonly owner?: Person;
  readonly models?: readonly string[];
}

export interface LedgerRow {
  readonly requestId: string;
  readonly state: string;
  readonly failure: string | null;
}

export async function startWorld(
  options: {
    readonly worker?: boolean;
    readonly env?: Readonly<Record<string, string>>;
    readonly rig?: RigOptions;
  } = {},
): Promise<World> {
  const rig = await createRig(options.rig);
  const port = await freePort();
  const caFile = path.join(rig.folder, 'ca.pem');
  writeFileSync(caFile, rig.ca);
  const files = Object.entries(rig.env).filter(([name]) => name.startsWith('MODEL_PROVIDER_'));
  const env = {
    ...Object.fromEntries(files),
    MODEL_PROVIDER_A_CLIENT_ID: 'fixture-client',
    MODEL_PROVIDER_B_CLIENT_ID: 'fixture-client',
    MODEL_RUNTIME_URL: `https://127.0.0.1:${port}`,
    MODEL_RUNTIME_SECRET: rig.secret,
    MODEL_RUNTIME_CA_FILE: caFile,
    ...options.env,
  };
  const service = await startService({ worker: options.worker ?? false, env });
  const ada = await signUp(service);
  const key = await ada.key();
  const { database } = service.deps;
  return {
    rig,
    service,
    ada,
    env,
    key,
    runtimeEnv: { MODEL_RUNTIME_PORT: String(port) },
    asked: () => rig.providers.control.requests().filter(({ method }) => method === 'POST').length,
    account: (slot, more) => plantAccount(service, ada, slot, more),
    async occurrence(routineId) {
      await key.post(`/v1/routines/${routineId}/activate`);
      await fallDue(service, routineId);
      const { data } = await key.get(`/v1/routines/${routineId}/runs?trigger=schedule`);
      return data[0];
    },
    calls: (runId) =>
      database.rows<LedgerRow>`
        select request_id as "requestId", state, failure from model_calls
        where run_id = ${runId} order by step_index, attempt
      `,
    async close() {
      await service.close();
      await rig.close();
    },
  };
}

/** Stores an account as its sign-in would. */
async function plantAccount(
  service: Service,
  person: Person,
  slot: ProviderSlot,
  options: AccountOptions = {},
): Promise<string> {
  const { credential = FIXTURE_KEY, owner = person, models = [MODEL] } = options;
  const { database, modelProviders, secrets } = service.deps;
  const { file, identity } = modelProviders.require(slot);
  const id = newId('modelConnection');
  const sealed = sealCredential(secrets, id, credentialOf(slot, credential, options.refreshToken));
  await plantAccounts(database, person.projectId, {
    id,
    ownerId: owner.userId,
    provider: slot,
    providerName: file.name,
    providerIdentity: identity,
    credential: sealed,
    validatedAt: AT_ONCE,
  });
  await transaction(database, (tx) =>
    recordCatalogue(
      tx,
      { id, projectId: person.projectId },
      models.map((model) => ({ id: model, name: model, contextTokens: 64_000 })),
    ),
  );
  return id;
}

function credentialOf(slot: ProviderSlot, value: string, refreshToken: string | undefined): ModelCredential {
  if (slot === 'provider-c') return { kind: 'api_key', key: value };
  return {
    kind: 'oauth',
    accessToken: value,
    refreshToken: refreshToken ?? null,
    account: null,
    clientId: 'fixture-client',
  };
}

/** Returns the `model` of a routine on an account. */
export function modelOn(provider: ProviderSlot, connectionId: string, modelId = MODEL) {
  return { provider, connectionId, modelId };
}
