import type { Payment, PlanRule } from '#core/billing/index.ts';
import type {
  ConnectionSecrets,
  CredentialSource,
  ProviderCatalogue,
} from '#core/connections/index.ts';
import type { Engine } from '#core/engine/index.ts';
import type { Emit } from '#core/events.ts';
import type { Auth, RetentionRule } from '#core/identity/index.ts';
import type {
  FindServer,
  ModelCredentials,
  ModelProviders,
  ModelRuntime,
} from '#core/model-connections/index.ts';
import type { UnsubscribeLinks } from '#core/outbox/index.ts';
import type { AbilityStore, FigureStore, ProjectModels } from '#core/models/index.ts';
import type { SealedWebhookSecrets } from '#core/routines/index.ts';
import type { Admission, RunFeed } from '#core/runs/index.ts';
import type { ModelCaller } from '#core/steps/index.ts';
import type { SkillCatalogue } from '#core/skills/index.ts';
import type { OperatorCap } from '#core/usage/index.ts';
import type { Config } from '#lib/config/index.ts';
import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { Mailer } from '#lib/mail/index.ts';
import type { Metrics } from '#lib/metrics/index.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { Tracing } from '#lib/tracing/index.ts';
import type { ClientAddress } from './http/client-address.ts';
import type { KeyAttempts, Readiness } from './http/address-limits.ts';

/** The parts of the HTTP face, handed in by its entry; none of them is a module-level singleton. */
export interface Deps {
  readonly config: Config;
  readonly planRule: PlanRule;
  /** US dollars a month that each organization may spend on models that the operator pays for. */
  readonly maxCostUsdPerOrganization: OperatorCap;
  readonly retention: RetentionRule;
  readonly payment: Payment;
  readonly database: Database;
  readonly auth: Auth;
  /** Undefined without a mail server. */
  readonly mailer: Mailer | undefined;
  readonly uiOrigin: string;
  readonly unsubscribeLinks: UnsubscribeLinks;
  /** Recipient of business enquiries; undefined for none. */
  readonly leadsEmail: string | undefined;
  readonly clientAddress: ClientAddress;
  readonly keyAttempts: KeyAttempts;
  readonly readiness: Readiness;
  readonly auditRetentionDays: number;
  readonly models: ProjectModels;
  readonly abilities: AbilityStore;
  readonly figures: FigureStore;
  readonly caller: ModelCaller;
  readonly skills: SkillCatalogue;
  readonly secrets: SecretBox;
  readonly outbound: OutboundClient;
  readonly webhookSecrets: SealedWebhookSecrets;
  readonly connectionSecrets: ConnectionSecrets;
  readonly credentials: CredentialSource;
  readonly emit: Emit;
  readonly providers: ProviderCatalogue;
  readonly modelProviders: ModelProviders;
  /** Undefined where the configuration names none. */
  readonly modelRuntime: ModelRuntime | undefined;
  readonly modelCredentials: ModelCredentials;
  readonly findModelServer: FindServer;
  readonly providerEnabled: (provider: string) => boolean;
  readonly engine: Engine;
  readonly admission: Admission;
  readonly runFeed: RunFeed;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}
