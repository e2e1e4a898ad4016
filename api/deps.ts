import type { Auth } from '#core/accounts/identity/index.ts';
import type { Services } from '#core/services.ts';
import type { Config } from '#lib/config/index.ts';
import type { ClientAddress } from './http/client-address.ts';
import type { KeyAttempts, Readiness } from './http/address-limits.ts';

/** The parts that the API uses. `api/server.ts` makes them and passes them on as arguments; no part is global. */
export interface Deps extends Services {
  readonly config: Config;
  readonly auth: Auth;
  readonly clientAddress: ClientAddress;
  readonly keyAttempts: KeyAttempts;
  readonly readiness: Readiness;
}
