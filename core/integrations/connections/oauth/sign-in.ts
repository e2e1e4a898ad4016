import { AppError, type ErrorCode } from '#lib/errors.ts';
import type { OutboundError } from '#lib/outbound/index.ts';
import type { ConnectionsCore } from '../core.ts';

/** Parts of the core that a sign-in uses. The page at `uiOrigin` passes the provider's response to this service. */
export interface SignInDeps extends Pick<
  ConnectionsCore,
  'connectionSecrets' | 'database' | 'log' | 'outbound' | 'providers' | 'secrets' | 'uiOrigin'
> {
  /** Returns the address of the client metadata document for a callback. The address is the client id if possible. */
  readonly clientMetadataUrl: (callback: string) => string;
}

/**
 * Lists the reasons why a sign-in cannot begin or end, in the service's own words. The words repeat nothing from a
 * server except its issuer.
 */
const ERRORS = {
  blocked: [
    'invalid_request',
    'The server names an address for signing in that is not allowed: it has to be a public https address.',
  ],
  unreachable: ['provider_error', 'The authorization server could not be reached.'],
  no_metadata: ['provider_error', 'The tool server does not say where to sign in.'],
  wrong_issuer: ['provider_error', 'The metadata of the authorization server names another server as the issuer.'],
  foreign_resource: ['provider_error', 'The metadata of the tool server names another server as the resource.'],
  no_pkce: ['provider_error', 'The authorization server does not offer PKCE with S256.'],
  no_registration: [
    'invalid_request',
    'The authorization server registers no clients: register one there, and give clientId and clientSecret.',
  ],
  registration_refused: ['provider_error', 'The authorization server refused to register a client.'],
  registration_unreadable: [
    'provider_error',
    'The authorization server answered the registration of a client without a client_id.',
  ],
  foreign_response: [
    'provider_error',
    'The response is not from the authorization server where the sign-in was started; start it again.',
  ],
  denied: ['forbidden', 'Access was not granted at the provider.'],
  refused: ['provider_error', 'The provider answered the sign-in with an error; start it again.'],
  no_tokens: ['provider_error', 'The provider did not complete the sign-in; start it again.'],
  not_verified: ['provider_error', 'The provider does not accept the tokens that it has just issued.'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export class SignInError extends AppError {
  readonly reason: keyof typeof ERRORS;

  constructor(reason: keyof typeof ERRORS, message: string = ERRORS[reason][1]) {
    super(ERRORS[reason][0], message);
    this.reason = reason;
  }

  /**
   * Makes the error for a server that registers no clients. The message has this service's return address, for the
   * person who registers a client by hand.
   */
  static noRegistration(redirectUri: string): SignInError {
    const [, message] = ERRORS.no_registration;
    return new SignInError('no_registration', `${message} Its return address is ${redirectUri}.`);
  }

  /** @param said the issuer in the metadata @param named the issuer that was asked for; both are safe to show */
  static wrongIssuer(said: string, named: string): SignInError {
    return new SignInError(
      'wrong_issuer',
      `The authorization server calls itself ${said}, but the tool server calls it ${named}.`,
    );
  }

  static of(error: OutboundError): SignInError {
    const isBlocked =
      error.code === 'blocked_url' || error.code === 'blocked_address' || error.code === 'redirect_refused';
    return new SignInError(isBlocked ? 'blocked' : 'unreachable');
  }
}
