import { Secret, TOTP } from 'otpauth';

/** Makes a secret of 160 bits, as RFC 4226 recommends, in base32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** Builds the address that an authenticator reads from a QR code. */
export function totpUri(secret: string, of: { issuer: string; account: string }): string {
  return new TOTP({ secret, issuer: of.issuer, label: of.account }).toString();
}

/**
 * Finds the time step (RFC 6238, 30 seconds) that a code of six digits is for: the present one, or one before or after
 * it for clocks that differ. Returns undefined for a wrong code.
 */
export function stepOfCode(secret: string, code: string, timestamp = Date.now()) {
  const totp = new TOTP({ secret });
  const delta = totp.validate({ token: code, timestamp, window: 1 });
  return delta === null ? undefined : totp.counter({ timestamp }) + delta;
}
