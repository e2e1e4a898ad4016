import { domainToASCII } from 'node:url';
import { createTransport } from 'nodemailer';
import { z } from 'zod';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The same message as HTML, for programs that show it. */
  readonly html?: string;
  /** Determines the Message-ID, which stays the same when the message is sent again. */
  readonly id?: string;
  readonly replyTo?: string;
  /** Address for a POST without a session that ends mails of this kind (RFC 8058). */
  readonly unsubscribeUrl?: string;
}

export interface Mailer {
  /** Makes one attempt to send a mail. @returns the reason if the mail server has not accepted the message */
  attempt(mail: Mail): Promise<MailFault | undefined>;
  close(): void;
}

/**
 * Creates a sender for a mail server.
 * @param options.requireTls refuses a server without encryption on a `smtp:` address
 */
export function openMailer(options: { url: string; from: string; requireTls: boolean }): Mailer {
  const { from } = options;
  const { protocol, hostname, port, username, password } = new URL(options.url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname,
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    requireTLS: options.requireTls,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    pool: true,
    maxConnections: 3,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });

  async function attempt(mail: Mail): Promise<MailFault | undefined> {
    const { to, subject, text, html, id, replyTo } = mail;
    try {
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        ...(html === undefined ? {} : { html }),
        ...(id === undefined ? {} : { messageId: `<${id}@${domainOf(from)}>` }),
        ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
        headers: { 'Auto-Submitted': 'auto-generated', ...unsubscribeHeaders(mail) },
      });
      return undefined;
    } catch (error) {
      return faultOf(error);
    }
  }

  return { attempt, close: () => transport.close() };
}

function unsubscribeHeaders({ unsubscribeUrl }: Mail): Record<string, string> {
  if (unsubscribeUrl === undefined) return {};
  return { 'List-Unsubscribe': `<${unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
}

/** Returns the domain of an address, which may have the form `Name <name@domain>`. */
function domainOf(from: string): string {
  const domain = from.slice(from.lastIndexOf('@') + 1).replace(/>$/, '');
  return domainToASCII(domain) || domain;
}

/**
 * Fault of a mail server that has not accepted a message. `refused` is permanent; `away` means that no message can be
 * sent now; `deferred` concerns this message and is temporary.
 */
interface MailFault {
  readonly kind: 'refused' | 'away' | 'deferred';
  /** Message in the service's own words, as the server's reply may contain the address. */
  readonly message: string;
}

/** Codes of nodemailer for an error of this message; any other error would affect every message. */
const OF_MESSAGE: ReadonlySet<string> = new Set(['EENVELOPE', 'EMESSAGE']);

/** Reply codes of a server that requires a sign-in or encryption before any message (RFC 4954, RFC 3207). */
const UNPREPARED: ReadonlySet<number> = new Set([503, 530, 538]);

/** Codes of Node for a wrong certificate and a failed handshake. */
const ABOUT_TLS = /CERT|SSL|TLS|SIGNATURE|ISSUER/;

const TOO_LARGE = 552;
const CLOSING = 421;

/** Judges an error of nodemailer by its code and by the server's reply (RFC 5321, section 4.2.1). */
function faultOf(error: unknown): MailFault {
  const { code = 'unknown', originalCode = code, responseCode: reply, command } = smtpError.parse(error);
  if (code === 'EAUTH' || (reply !== undefined && UNPREPARED.has(reply))) {
    return { kind: 'away', message: 'the mail server does not accept our credentials' };
  }
  if (ABOUT_TLS.test(originalCode)) {
    const message = `the mail server offers no encryption, which SMTP_TLS_REQUIRED demands, or its certificate is wrong (${originalCode})`;
    return { kind: 'away', message };
  }
  if (!OF_MESSAGE.has(code) || reply === CLOSING) {
    return { kind: 'away', message: `the mail server could not be reached (${code})` };
  }
  if (reply === undefined) return { kind: 'refused', message: `the message cannot be sent (${code})` };
  if (reply < 500) return { kind: 'deferred', message: `the mail server asks to send the message later (${reply})` };
  // A refusal of the sender affects all messages, because they have the same sender.
  if (command === 'MAIL FROM' && reply !== TOO_LARGE) {
    return { kind: 'away', message: `the mail server does not accept MAIL_FROM as a sender (${reply})` };
  }
  return { kind: 'refused', message: `the mail server has refused the message (${reply})` };
}

/** The fields of nodemailer's errors. */
const smtpError = z.object({
  code: z.string().optional().catch(undefined),
  /** The code of Node, if nodemailer has replaced it. */
  originalCode: z.string().optional().catch(undefined),
  responseCode: z.number().optional().catch(undefined),
  command: z.string().optional().catch(undefined),
});
