import type { AuthorizationServer } from './authorization-server.ts';
import { SignInError } from './sign-in-error.ts';

/**
 * Checks who a response is from, before anything in it is believed, an error too (RFC 9207, section 2.4): the issuer
 * that the sign-in was begun at, and never nobody where its metadata promises to say. A managed provider whose file
 * names no issuer has nothing to compare with; its callback is its own.
 * @throws {SignInError} `foreign_response`
 */
export function assertIssuer(
  { issuer, sendsIssuer }: Pick<AuthorizationServer, 'issuer' | 'sendsIssuer'>,
  iss: string | undefined,
): void {
  if (issuer === undefined) return;
  if (iss === undefined ? sendsIssuer : iss !== issuer) throw new SignInError('foreign_response');
}
