import { expect } from 'vitest';
import type { CaughtMail } from '#dev/fakes/mail/inbox.ts';
import { startMailCatcher, type MailCatcher } from '#dev/fakes/mail/server.ts';

export interface Mailbox extends MailCatcher {
  /** Returns the mails to an address, newest first. */
  mailsTo(address: string): Promise<CaughtMail[]>;
  /** Variables with which a service sends its mails here. */
  readonly env: Readonly<Record<string, string>>;
  /** Returns the texts of the mails to an address, newest first. */
  textsTo(address: string): Promise<string[]>;
  /** Waits for a mail to the address whose text matches the pattern, and returns the first group of the match. */
  find(address: string, pattern: RegExp): Promise<string>;
}

/** Starts a real mail server, whose mails tests can read. */
export async function startMailbox({ smtpPort = 0 } = {}): Promise<Mailbox> {
  const catcher = await startMailCatcher({ smtpPort, httpPort: 0 });
  async function mailsTo(address: string): Promise<CaughtMail[]> {
    const response = await fetch(`${catcher.url}/messages?to=${encodeURIComponent(address)}`);
    return (await response.json()) as CaughtMail[];
  }
  async function textsTo(address: string): Promise<string[]> {
    return (await mailsTo(address)).map(({ text }) => text);
  }
  return {
    ...catcher,
    env: {
      SMTP_URL: catcher.smtpUrl,
      SMTP_TLS_REQUIRED: 'false',
      MAIL_FROM: 'Test <test@example.com>',
    },
    mailsTo,
    textsTo,
    async find(address, pattern) {
      const firstMatch = async () => (await textsTo(address)).map((text) => pattern.exec(text)?.[1]).find(Boolean);
      await expect.poll(firstMatch).toBeDefined();
      return (await firstMatch())!;
    },
  };
}
