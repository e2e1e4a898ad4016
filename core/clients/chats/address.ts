/** Chats that take messages at an incoming webhook. */
export const CHAT_KINDS = ['slack', 'teams', 'discord', 'google_chat'] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

interface Form {
  readonly kind: ChatKind;
  readonly host: RegExp;
  readonly path: RegExp;
  /** Query parameters that the address needs. */
  readonly query?: readonly string[];
}

/** Addresses of incoming webhooks, as the chats' own documentation shows them. Slack's workflows take another form. */
const FORMS: readonly Form[] = [
  { kind: 'slack', host: /^hooks\.slack(?:-gov)?\.com$/, path: /^\/services\/\w+\/\w+\/\w+$/ },
  { kind: 'teams', host: /^[\w-]+\.webhook\.office\.com$/, path: /^\/webhookb2\/.+\/IncomingWebhook\/.+/ },
  {
    kind: 'teams',
    host: /^[\w.-]+\.logic\.azure\.com$/,
    path: /^\/workflows\/\w+\/triggers\/\w+\/paths\/invoke$/,
    query: ['sig'],
  },
  {
    kind: 'teams',
    host: /^[\w.-]+\.api\.powerplatform\.com$/,
    path: /\/workflows\/\w+\/triggers\/\w+\/paths\/invoke$/,
    query: ['sig'],
  },
  {
    kind: 'discord',
    host: /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/,
    path: /^\/api\/(?:v\d+\/)?webhooks\/\d+\/[\w-]+$/,
  },
  {
    kind: 'google_chat',
    host: /^chat\.googleapis\.com$/,
    path: /^\/v1\/spaces\/[\w-]+\/messages$/,
    query: ['key', 'token'],
  },
];

/** Recognizes a chat by its address; undefined for an unknown address. */
export function chatKindOf(address: string): ChatKind | undefined {
  const url = URL.parse(address);
  if (url === null || url.protocol !== 'https:' || url.port !== '' || url.username !== '') return undefined;
  return FORMS.find(
    ({ host, path, query = [] }) =>
      host.test(url.hostname) && path.test(url.pathname) && query.every((name) => url.searchParams.get(name)),
  )?.kind;
}
