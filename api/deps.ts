import type { Auth } from '#core/accounts/identity/index.ts';
import type { Services } from '#core/services.ts';
import type { Config } from '#lib/config/index.ts';
import type { ClientAddress } from './http/client-address.ts';
import type { KeyAttempts, Readiness } from './http/address-limits.ts';

/** The parts of the HTTP face, handed in by its entry; none of them is a module-level singleton. */
export interface Deps extends Services {
  readonly config: Config;
  readonly auth: Auth;
  readonly clientAddress: ClientAddress;
  readonly keyAttempts: KeyAttempts;
  readonly readiness: Readiness;
}
