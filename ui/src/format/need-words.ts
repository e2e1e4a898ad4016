const NEEDS: Readonly<Record<string, string>> = {
  web: 'the web',
  'search-console': 'search console data',
  analytics: 'analytics',
  ads: 'ad accounts',
  crm: 'a CRM',
  email: 'e-mail',
  sms: 'text messages',
  social: 'social accounts',
  community: 'community channels',
  reviews: 'reviews',
  billing: 'billing data',
  content: 'documents or a CMS',
  support: 'support tickets',
};

/** Names the kind of data that a skill or a template needs, for a sentence. */
export function needText(need: string): string {
  return NEEDS[need] ?? need;
}
