import { describe, expect, test } from 'vitest';
import { NEEDS, unmetNeeds, type Need } from '#core/authoring/skills/index.ts';
import type { ToolHint } from '#core/authoring/skills/needs.ts';

function unmet(needs: readonly Need[], ...tools: readonly ToolHint[]): Need[] {
  return unmetNeeds([{ slug: 'a', needs }], tools).map(({ need }) => need);
}

describe('what a skill needs and no tool offers', () => {
  test('is everything where there are no tools, and nothing where nothing is needed', () => {
    expect(unmet(NEEDS)).toEqual(NEEDS);
    expect(unmet([])).toEqual([]);
  });

  test.each<[Need, ToolHint]>([
    ['web', { name: 'fetchUrl' }],
    ['web', { name: 'get', description: 'Fetch a page' }],
    ['search-console', { name: 'query', connection: 'Google Search Console' }],
    ['analytics', { name: 'run_report', title: 'GA4 report' }],
    ['ads', { name: 'list-campaigns' }],
    ['crm', { name: 'search', connection: 'HubSpot' }],
    ['crm', { name: 'runQuery', description: 'Runs SQL in BigQuery' }],
    ['email', { name: 'klaviyo_metrics' }],
    ['sms', { name: 'send', connection: 'Twilio' }],
    ['social', { name: 'list_posts' }],
    ['community', { name: 'read_threads', connection: 'Discord' }],
    ['reviews', { name: 'listReviews' }],
    ['billing', { name: 'subscriptions.list' }],
    ['content', { name: 'notion-search' }],
    ['support', { name: 'tickets' }],
  ])('%s is met by %j', (need, tool) => {
    expect(unmet([need], tool)).toEqual([]);
  });

  test.each<[Need, ToolHint]>([
    ['ads', { name: 'list_threads', description: 'Reads loads of downloads' }],
    ['crm', { name: 'weather' }],
    ['billing', { name: 'list', description: 'Returns rows in order, as text' }],
    ['sms', { name: 'list', description: 'Returns rows in order, as text' }],
    ['email', { name: 'list_campaigns', connection: 'Google Ads' }],
    ['ads', { name: 'list_posts', connection: 'LinkedIn' }],
    ['web', { name: 'webhook_list' }],
    ['sms', { name: 'echo', description: null, title: undefined, connection: null }],
  ])('%s is not met by part of a word: %j', (need, tool) => {
    expect(unmet([need], tool)).toEqual([need]);
  });

  test('names each skill that lacks it', () => {
    expect(
      unmetNeeds(
        [
          { slug: 'a', needs: ['ads'] },
          { slug: 'b', needs: ['web', 'ads'] },
        ],
        [{ name: 'fetch' }],
      ),
    ).toEqual([
      { slug: 'a', need: 'ads' },
      { slug: 'b', need: 'ads' },
    ]);
  });
});
