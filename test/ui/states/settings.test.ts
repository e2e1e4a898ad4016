import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { oneOfEach } from '#test/support/properties.ts';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME, ORGANIZATION, PROJECT, USER } from '../support/frame.ts';
import { failing, holding, photograph, refusingLater } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const TABS = ['organization', 'members', 'projects', 'notifications', 'account', 'audit'];
const PEOPLE = (['owner', 'admin', 'member'] as const).map((role, nth) =>
  sample('Member', {
    role,
    userId: nth === 0 ? USER.id : `usr${nth}`,
    joinedAt: ago(900 * nth),
    name: ['Ada Lovelace', 'Katherine Johnson', 'Grace Hopper'][nth]!,
    email: `${role}@example.com`,
  }),
);
const REFUSED = sample('Chat', { name: '#marketing', kind: 'slack', goneAt: ago(60), goneReason: 'no_service' });
const LONG = 'a.rather.long.address.of.a.colleague@subsidiary.example.com';

/** Makes the settings of an organization for a member of this role. */
function servedTo(role: 'owner' | 'member') {
  const organization = { ...ORGANIZATION, name: 'Analytical Engines', role };
  const budget = { maxTokensPerDay: 5_000_000, maxCostUsdPerMonth: '250' };
  const project = {
    ...PROJECT,
    notifications: { mail: { on: ['failed' as const, 'paused' as const], to: 'admins' as const } },
  };
  return [
    ...FRAME,
    answer('get', '/v1/projects/{projectId}', project),
    answer('get', '/v1/organizations', [organization]),
    answer('get', '/v1/organizations/{organizationId}', sample('OrganizationDetail', { ...organization, budget })),
    answer('get', '/v1/organizations/{organizationId}/members', PEOPLE),
    answer('get', '/v1/organizations/{organizationId}/invitations', [
      sample('Invitation', { email: LONG, role: 'admin', organizationId: organization.id, expiresAt: ago(-9_000) }),
    ]),
    answer(
      'get',
      '/v1/projects/{projectId}/digest',
      sample('Digest', { frequency: 'weekly', weekday: 'friday', hour: 7, timezone: 'Asia/Tokyo', nextAt: ago(-900) }),
    ),
    answer('get', '/v1/sessions', [
      sample('Session', { id: 'ses1', current: true, userAgent: 'Mozilla/5.0 Firefox/140.0', address: '203.0.113.7' }),
      sample('Session', { id: 'ses2', userAgent: 'curl/8.0', address: '203.0.113.8' }),
    ]),
    answer('get', '/v1/audit-events', ({ query }) =>
      query.has('action')
        ? []
        : (['organization.renamed', 'invitation.created', 'budget.changed'] as const).map((action, nth) =>
            sample('AuditEvent', {
              action,
              createdAt: ago(nth),
              targetId: organization.id,
              organizationId: organization.id,
              actor: {
                kind: 'person',
                name: 'Ada Lovelace',
                id: USER.id,
                address: '203.0.113.7',
              },
            }),
          ),
    ),
  ];
}

test('the settings in all their states', async ({ api, visit }) => {
  const at = (tab: string) => ({ path: `${AT}/settings?tab=${tab}` });
  const serve = (role: 'owner' | 'member') => () => api.serve(...servedTo(role));
  const says = (text: string) => (page: Page) => page.getByText(text).first().waitFor();
  const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click();
  await photograph(visit, 'settings', [
    ...TABS.map((tab) => ({ ...at(tab), name: tab, before: serve('owner'), act: says('For this project') })),
    {
      ...at('members'),
      name: 'members-loading',
      holds: true,
      before: holding(/\/members$/),
      loading: true,
      act: says('Invitations'),
    },
    { ...at('audit'), name: 'audit-failed', before: failing('/v1/audit-events'), act: says('could not be read') },
    {
      ...at('projects'),
      name: 'project',
      async act(page) {
        await page.getByRole('button', { name: 'Actions for Website' }).click();
        await page.getByRole('menuitem', { name: 'Settings' }).click();
        await page.getByLabel('Tokens a day').waitFor();
      },
    },
    {
      ...at('notifications'),
      name: 'chat-refused',
      before: () =>
        api.serve(
          ...servedTo('owner'),
          answer('get', '/v1/chats', [REFUSED]),
          answer('patch', '/v1/chats/{chatId}', REFUSED),
        ),
      async act(page) {
        await page.getByText('The chat refuses this address (no_service)').waitFor();
        await page.getByLabel('Another address').fill('https://hooks.slack.com/services/T1/B1/x');
        await page.getByRole('button', { name: 'Use this address' }).click();
        await expect.poll(() => api.asked).toContain(`PATCH /v1/chats/${REFUSED.id}`);
      },
    },
    { ...at('members'), name: 'invite', act: press('Invite a person') },
    { ...at('organization'), name: 'delete', act: press('Delete organization') },
    { path: `${at('audit').path}&action=plan.changed`, name: 'audit-empty' },
    ...TABS.filter((tab) => tab !== 'account').map((tab) => ({
      ...at(tab),
      name: `${tab}-member`,
      before: serve('member'),
    })),
    { ...at('members'), name: 'members-empty', before: () => api.serve(...FRAME) },
  ]);
});

const SWITCHES = [
  ['notifications', /^\/v1\/projects\//, 'Let people share single results by a link'],
  ['assistants', /^\/v1\/projects\//, 'Let programs reach this project through MCP'],
  ['organization', /^\/v1\/organizations\//, 'Require a second factor from every member'],
] as const;

test('a switch moves at once, and moves back after a refusal', async ({ api, visit }) => {
  api.serve(...servedTo('owner'));
  const { page } = await visit('about:blank');
  for (const [tab, path, label] of oneOfEach(SWITCHES, ([, of]) => of.source)) {
    const refuse = await refusingLater(page, path, 'PATCH');
    await page.goto(`${AT}/settings?tab=${tab}`);
    const lever = page.getByRole('switch', { name: label });
    const before = await lever.getAttribute('aria-checked');
    await lever.click();
    await expect.poll(() => lever.getAttribute('aria-checked')).toBe(String(before !== 'true'));
    refuse();
    await page.getByText('Your role does not allow this.').waitFor();
    await expect.poll(() => lever.getAttribute('aria-checked')).toBe(before);
    await page.unrouteAll();
  }
});
