/** All kinds of data that skills may need, each with the words by which a tool for it is recognized. */
const WORDS = {
  web: 'web browse browser fetch url crawl crawler scrape serp search http lighthouse pagespeed webpage website websites',
  'search-console': 'searchconsole gsc webmaster semrush ahrefs keyword keywords serp rank ranking',
  analytics: 'analytics ga4 matomo plausible posthog mixpanel amplitude funnel',
  ads: 'ads adwords campaign campaigns advertising googleads bingads',
  crm: 'crm hubspot salesforce pipedrive deal deals lead leads opportunity opportunities contact contacts attio',
  email: 'mail email newsletter mailchimp klaviyo brevo sendgrid mailgun customerio braze iterable',
  sms: 'sms twilio postscript attentive',
  social:
    'social twitter linkedin instagram facebook tiktok youtube threads bluesky mastodon buffer hootsuite post posts',
  community: 'community forum discord slack reddit discourse github channel channels thread threads',
  reviews: 'review reviews rating ratings trustpilot g2 capterra yelp businessprofile appstore playstore',
  billing:
    'billing stripe subscription subscriptions invoice invoices payment payments paddle chargebee recurly shopify woocommerce checkout',
  content:
    'cms wordpress contentful sanity notion docs document documents drive file files sheet sheets page pages calendar repository',
  support: 'support ticket tickets zendesk intercom helpdesk freshdesk survey surveys feedback',
} as const;

/** Words for data stores, which can have rows of any kind. */
const WAREHOUSE = 'warehouse bigquery snowflake redshift postgres sql query database dwh';
const FROM_WAREHOUSE: readonly Need[] = ['analytics', 'ads', 'crm', 'email', 'sms', 'billing', 'support'];

export type Need = keyof typeof WORDS;

export const NEEDS = Object.keys(WORDS).filter((name): name is Need => Object.hasOwn(WORDS, name));

/** Facts about a tool that are known before the first call. */
export interface ToolHint {
  readonly name: string;
  readonly title?: string | null | undefined;
  readonly description?: string | null | undefined;
  /** The name of the tool's connection. */
  readonly connection?: string | null | undefined;
}

interface UnmetNeed {
  readonly slug: string;
  readonly need: Need;
}

/**
 * Finds needs of the skills that no tool seems to meet, for a warning. The finding may be wrong: only words are
 * compared, so a tool with a vague name is missed, and the instructions may contain the data.
 */
export function unmetNeeds(
  skills: readonly { readonly slug: string; readonly needs: readonly Need[] }[],
  tools: readonly ToolHint[],
): UnmetNeed[] {
  const offered = new Set(tools.flatMap(needsOffered));
  return skills.flatMap(({ slug, needs }) =>
    needs.filter((need) => !offered.has(need)).map((need) => ({ slug, need })),
  );
}

function needsOffered(tool: ToolHint): Need[] {
  const words = wordsOf([tool.connection, tool.name, tool.title, tool.description].filter(Boolean).join(' '));
  const direct = NEEDS.filter((need) => WORDS[need].split(' ').some((word) => words.has(word)));
  const rows = WAREHOUSE.split(' ').some((word) => words.has(word));
  return rows ? [...direct, ...FROM_WAREHOUSE] : direct;
}

function wordsOf(text: string): Set<string> {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return new Set([...words, ...words.slice(1).map((word, index) => `${words[index]}${word}`)]);
}
