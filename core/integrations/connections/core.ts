import type { Core } from '#core/core.ts';
import type { ProviderCatalogue } from './providers/catalogue.ts';
import type { CredentialSource } from './store/credential-source.ts';
import type { ConnectionSecrets } from './store/credentials.ts';

/** The core with the parts that connections add. */
export interface ConnectionsCore extends Core {
  readonly connectionSecrets: ConnectionSecrets;
  readonly credentials: CredentialSource;
  readonly providers: ProviderCatalogue;
}
