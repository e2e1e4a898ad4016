import { z } from 'zod';

export interface Reply {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a chat answers a message, by its documentation. */
export interface Manner {
  /** Reply to an accepted message. */
  readonly taken: Reply;
  /** Reply at an unknown address. */
  readonly unknown: Reply;
  /** Reply to a message that the chat cannot read. */
  readonly unread: Reply;
  takes(body: unknown, bytes: number): boolean;
}

function text(max: number) {
  return z.string().min(1).max(max);
}

const mrkdwn = z.strictObject({ type: z.literal('mrkdwn'), text: text(3_000), verbatim: z.boolean().optional() });
const slackBody = z.strictObject({
  text: text(40_000),
  blocks: z
    .array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('section'), text: mrkdwn }),
        z.strictObject({ type: z.literal('context'), elements: z.array(mrkdwn).min(1).max(10) }),
        z.strictObject({ type: z.literal('divider') }),
      ]),
    )
    .max(50)
    .optional(),
  unfurl_links: z.boolean().optional(),
  unfurl_media: z.boolean().optional(),
});

export const slack: Manner = {
  taken: { status: 200, body: 'ok' },
  unknown: { status: 404, body: 'no_service' },
  unread: { status: 400, body: 'invalid_payload' },
  takes: (body) => slackBody.safeParse(body).success,
};

const embed = z.strictObject({
  title: text(256).optional(),
  url: z.url().optional(),
  description: text(4_096).optional(),
  footer: z.strictObject({ text: text(2_048) }).optional(),
});
const discordBody = z.strictObject({
  content: text(2_000).optional(),
  embeds: z.array(embed).min(1).max(10),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }).optional(),
});

export const discord: Manner = {
  taken: { status: 204 },
  unknown: { status: 404, body: JSON.stringify({ message: 'Unknown Webhook', code: 10_015 }) },
  unread: { status: 400, body: JSON.stringify({ message: 'Invalid Form Body', code: 50_035 }) },
  takes(body) {
    const read = discordBody.safeParse(body);
    if (!read.success) return false;
    const sizes = read.data.embeds.map((each) =>
      [each.title, each.description, each.footer?.text].reduce((sum, part) => sum + (part?.length ?? 0), 0),
    );
    return sizes.reduce((sum, size) => sum + size, 0) <= 6_000;
  },
};

const googleBody = z.strictObject({ text: text(4_096) });

export const googleChat: Manner = {
  taken: { status: 200, body: JSON.stringify({ name: 'spaces/AAAA/messages/BBBB.CCCC', text: '' }) },
  unknown: { status: 404, body: JSON.stringify({ error: { code: 404, status: 'NOT_FOUND' } }) },
  unread: { status: 400, body: JSON.stringify({ error: { code: 400, status: 'INVALID_ARGUMENT' } }) },
  takes: (body, bytes) => bytes <= 32_000 && googleBody.safeParse(body).success,
};

const textBlock = z.looseObject({ type: z.literal('TextBlock'), text: text(20_000) });
const teamsBody = z.strictObject({
  type: z.literal('message'),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        contentUrl: z.null(),
        content: z.strictObject({
          $schema: z.url(),
          type: z.literal('AdaptiveCard'),
          version: z.string().regex(/^1\.[0-5]$/),
          body: z.array(textBlock).min(1),
        }),
      }),
    )
    .length(1),
});

export const teams: Manner = {
  taken: { status: 202 },
  unknown: { status: 404, body: JSON.stringify({ error: { code: 'WorkflowTriggerNotFound' } }) },
  unread: { status: 400, body: JSON.stringify({ error: { code: 'TriggerInputSchemaMismatch' } }) },
  takes: (body, bytes) => bytes <= 28_000 && teamsBody.safeParse(body).success,
};
