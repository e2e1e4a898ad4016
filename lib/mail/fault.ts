/**
 * Fault of a mail server that has not accepted a message. `refused` is permanent; `away` means that no message would
 * get through now; `deferred` concerns this message and passes.
 */
export interface MailFault {
  readonly kind: 'refused' | 'away' | 'deferred';
  readonly code: string;
  /** Message in the service's own words: what the server says may name the address. */
  readonly message: string;
}

/** Judges an error of nodemailer by its code and by the server's reply (RFC 5321, section 4.2.1). */
export function faultOf(error: unknown): MailFault {
  const code = textOf(error, 'code') ?? 'unknown';
  const reply = replyOf(error);
  if (code === 'EAUTH') {
    return { kind: 'away', code, message: 'the mail server does not accept our credentials' };
  }
  if (reply === undefined) {
    return { kind: 'away', code, message: `the mail server could not be reached (${code})` };
  }
  return reply >= 500
    ? { kind: 'refused', code, message: `the mail server has refused the message (${reply})` }
    : { kind: 'deferred', code, message: `the mail server has put the message off (${reply})` };
}

function replyOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('responseCode' in error)) return undefined;
  return typeof error.responseCode === 'number' ? error.responseCode : undefined;
}

function textOf(error: unknown, key: 'code'): string | undefined {
  return error instanceof Error && key in error && typeof error[key] === 'string'
    ? error[key]
    : undefined;
}
