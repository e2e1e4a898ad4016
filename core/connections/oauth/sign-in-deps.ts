import type { Database } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';
import type { OutboundClient } from '#lib/outbound/index.ts';
import type { SecretBox } from '#lib/secrets/index.ts';
import type { ProviderCatalogue } from '../providers/index.ts';
import type { ConnectionSecrets } from '../store/secrets.ts';

export interface SignInDeps {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly connectionSecrets: ConnectionSecrets;
  readonly outbound: OutboundClient;
  readonly providers: ProviderCatalogue;
  /** The user interface gets the provider's response and hands it on to us. */
  readonly uiOrigin: string;
  /** Returns the address of our client metadata document for a callback, used as our client id where it can be. */
  readonly clientMetadataUrl: (callback: string) => string;
  readonly log: Log;
}
