import { z } from 'zod';
import type { MailSettings } from '#core/accounts/settings/index.ts';
import type { Deps } from '../deps.ts';

export const mailDelivery = z
  .enum(['available', 'unavailable'])
  .describe('`unavailable` without a mail server: settings are stored, but no mail is sent.');

/** Presents the mail settings; null without settings. */
export function presentMail(mail: MailSettings | null) {
  if (mail === null) return null;
  return { on: [...mail.on], to: typeof mail.to === 'string' ? mail.to : [...mail.to] };
}

/** Tells whether the service can send mail. */
export function deliveryOf({ mailer }: Pick<Deps, 'mailer'>): z.output<typeof mailDelivery> {
  return mailer === undefined ? 'unavailable' : 'available';
}
