import type { Shape } from '#ui/api/types.ts';
import { capitalized } from '#ui/format/capitalized.ts';

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

/** Names the needs of a skill, for a sentence. */
export function needText(need: string): string {
  return NEEDS[need] ?? need;
}

/** Makes a heading of a category like "web-performance". */
export function categoryTitle(category: string): string {
  return capitalized(category.replaceAll('-', ' '));
}

/** Says how often a curated skill is best run, and how often its small check. */
export function bestRun({ cadence, check }: Pick<Shape<'SkillSummary'>, 'cadence' | 'check'>): string {
  if (cadence !== 'on-demand') return cadence ?? 'whenever needed';
  return check === null ? 'on demand' : `on demand, its check ${check}`;
}

/** Returns the sample that the text of a curated skill has, as it would be read; undefined if there is none. */
export function sampleOf(instructions: string): string | undefined {
  const [, rest] = instructions.split(/^### Sample page$/m);
  const [section = ''] = (rest ?? '').split(/^### /m);
  const [, fenced] = /^```\w*\n([\s\S]*?)^```$/m.exec(section) ?? [];
  return fenced?.trim();
}
