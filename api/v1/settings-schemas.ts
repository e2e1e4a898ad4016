import { z } from 'zod';
import { MAIL_EVENTS, RECIPIENT_GROUPS, type MailSettings } from '#core/accounts/settings/index.ts';
import type { Deps } from '../deps.ts';

/** Tells whether nothing is in the list twice. */
function isUnique(list: readonly string[]): boolean {
  return new Set(list).size === list.length;
}

/** Mail settings as a caller sends them. */
export const mailSettings = z
  .strictObject({
    on: z
      .array(z.enum(MAIL_EVENTS))
      .max(MAIL_EVENTS.length)
      .refine(isUnique, 'the same event twice')
      .meta({
        uniqueItems: true,
        description:
          '`failed`: a run failed. `paused`: the service paused the routine. `budget`: 80 % or all of a budget is spent. ' +
          '`partial`: a run succeeded with the outcome `partial`. `recovered`: the first run that succeeded after failures. Empty for no mail at all.',
        example: ['failed', 'paused'],
      }),
    to: z
      .union([
        z.enum(RECIPIENT_GROUPS),
        z
          .array(z.string().min(1).max(100))
          .min(1)
          .max(50)
          .refine(isUnique, 'the same person twice')
          .meta({ uniqueItems: true }),
      ])
      .meta({
        description:
          'A group of the organization, or ids of members; `admins` includes the owners. Mail goes to confirmed addresses of people who are members when it is sent, and to no other person.',
        example: 'admins',
      }),
  })
  .meta({ id: 'MailSettings' });

export const mailDelivery = z.enum(['available', 'unavailable']).meta({
  description:
    '`unavailable` where the operator has configured no mail server: settings are kept, and no mail is sent.',
});

/** Presents the settings; null where none were chosen. */
export function presentMail(mail: MailSettings | null) {
  if (mail === null) return null;
  return { on: [...mail.on], to: typeof mail.to === 'string' ? mail.to : [...mail.to] };
}

/** Tells whether mail can be sent at all. */
export function deliveryOf({ mailer }: Pick<Deps, 'mailer'>): z.output<typeof mailDelivery> {
  return mailer === undefined ? 'unavailable' : 'available';
}

/** The fields of a budget as a caller sets them. */
export const budgetFields = {
  maxTokensPerDay: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .nullable()
    .meta({ description: 'Input and output tokens of a calendar day (UTC); null for no limit.' }),
  maxCostUsdPerMonth: z
    .string()
    .regex(/^(?!0+(\.0+)?$)\d{1,9}(\.\d{1,10})?$/, 'a positive decimal string, like "25.00"')
    .nullable()
    .meta({ description: 'US dollars of a calendar month (UTC); null for no limit.' }),
};
