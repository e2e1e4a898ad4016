import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { answer } from '../support/fake-api.ts';
import { pageTest } from '../support/fixtures.ts';
import { ago, AT, FRAME } from '../support/frame.ts';
import { failing, forbidding, headed, holding, photograph, refusing } from '../support/photograph.ts';
import { sample } from '../support/sample.ts';

const test = pageTest();

const [ID = '', OTHER = ''] = Array.from('gh', (end) => `con_01kx3k9y6wfd8r0v5m2c7t4q8${end}`);
const ROUTINE = 'rtn_01kx3k9y6wfd8r0v5m2c7t4q4c';
const LIST = `${AT}/connections`;
const SERVER = { name: 'rank', title: 'Rank tools', version: '1.0.0', protocolVersion: '2026-07-28' };

const CONNECTIONS = [
  sample('Connection', {
    id: ID,
    name: 'Rank tools',
    kind: 'tool_server',
    auth: 'bearer',
    state: 'ready',
    server: SERVER,
    url: 'https://tools.example.com/mcp',
    checkedAt: ago(5),
    createdAt: ago(900),
  }),
  sample('Connection', {
    id: OTHER,
    name: 'Reports',
    kind: 'managed',
    provider: 'fixture',
    auth: 'oauth',
    createdAt: ago(90),
    state: 'needs_reauthorization',
    error: {
      code: 'authorization_revoked',
      message: 'The sign-in was ended.',
    },
  }),
];
const PROVIDERS = [
  sample('ConnectionProvider', { id: 'fixture', name: 'Fixture', auth: 'oauth', configured: true }),
  sample('ConnectionProvider', { id: 'fixture-keys', name: 'Fixture with keys', auth: 'api_key', configured: true }),
  sample('ConnectionProvider', { id: 'elsewhere', name: 'Elsewhere', configured: false }),
];

const INPUT = { type: 'object', properties: { site: { type: 'string' } } };
const DEFINITION = { annotations: null, description: 'Reads the rankings of a site.', inputSchema: INPUT };
const POLICIES = [
  // The definition of this tool has changed since its confirmation.
  sample('ToolPolicy', {
    id: 'pol_01kx3k9y6wfd8r0v5m2c7t4q5a',
    name: 'read_rankings',
    connectionId: ID,
    state: 'disabled',
    inputSchema: INPUT,
    confirmedAt: ago(90),
    confirmedHash: 'a'.repeat(64),
    definitionHash: 'b'.repeat(64),
    confirmedDefinition: {
      ...DEFINITION,
      title: null,
      outputSchema: null,
    },
    description: 'Reads and mails.',
  }),
  sample('ToolPolicy', {
    id: 'pol_01kx3k9y6wfd8r0v5m2c7t4q5b',
    name: 'add_note',
    connectionId: ID,
    state: 'automatic',
    inputSchema: INPUT,
    confirmedAt: ago(90),
    confirmedHash: 'a'.repeat(64),
    definitionHash: 'a'.repeat(64),
    maxCallsPerRun: 5,
    description: 'Adds a note.',
  }),
  sample('ToolPolicy', {
    id: 'pol_01kx3k9y6wfd8r0v5m2c7t4q5d',
    name: 'create_issue',
    connectionId: ID,
    state: 'hold',
    inputSchema: INPUT,
    confirmedAt: ago(90),
    confirmedHash: 'a'.repeat(64),
    definitionHash: 'a'.repeat(64),
    description: 'Files an issue.',
  }),
  sample('ToolPolicy', {
    id: 'pol_01kx3k9y6wfd8r0v5m2c7t4q5c',
    name: 'delete_report',
    connectionId: ID,
    state: 'disabled',
    inputSchema: INPUT,
    definitionHash: 'c'.repeat(64),
    description: 'Deletes a report.',
  }),
];

const RULES = [
  { maxUses: 10, uses: 3, expiresAt: ago(-60 * (24 * 5 + 1)) },
  { words: 'Calls whose priority is at most 3, with any other arguments', uses: 1 },
  { maxUses: 2, uses: 2 },
  { revokedAt: ago(5) },
  { definitionHash: 'b'.repeat(64) },
].map((changes, nth) =>
  sample('ToolRule', {
    id: `tru_01kx3k9y6wfd8r0v5m2c7t4q9${nth}`,
    policyId: 'pol_01kx3k9y6wfd8r0v5m2c7t4q5d',
    definitionHash: 'a'.repeat(64),
    conditions: [{ pointer: '/title', prefix: 'Broken link' }],
    words: 'Calls whose title begins with "Broken link", with any other arguments',
    createdAt: ago(60),
    ...changes,
  }),
);

function press(name: string) {
  return (page: Page) => page.getByRole('button', { name, exact: true }).first().click();
}

const FULL = [
  ...FRAME,
  answer('get', '/v1/connections', CONNECTIONS),
  answer('get', '/v1/connections/providers', PROVIDERS),
  answer('get', '/v1/connections/{connectionId}', CONNECTIONS[0]!),
  answer('get', '/v1/routines', [sample('RoutineSummary', { id: ROUTINE, name: 'Weekly rankings' })]),
  answer('get', '/v1/routines/{routineId}', sample('RoutineDetail', { id: ROUTINE, name: 'Weekly rankings' })),
  answer('get', '/v1/routines/{routineId}/tools', POLICIES),
  answer('get', '/v1/routines/{routineId}/tools/{policyId}/rules', RULES),
];

test('connections in all their states', async ({ api, visit }) => {
  const seen = { path: LIST };
  const one = { path: `${LIST}/${ID}` };
  const missing = { code: 'not_found', message: 'There is no such connection.' };
  await photograph(visit, 'connections', [
    { ...seen, name: 'empty', before: () => api.serve(...FRAME) },
    {
      ...seen,
      name: 'full',
      before: () => api.serve(...FULL),
      async act(page) {
        await page.getByText('Rank tools').first().waitFor();
        await page.getByText(/^Elsewhere can be connected once the operator/).waitFor();
        expect(await page.getByRole('button', { name: 'Connect Elsewhere' }).count()).toBe(0);
      },
    },
    { ...seen, name: 'loading', before: holding('/v1/connections'), loading: true },
    { ...seen, name: 'failed', before: failing('/v1/connections') },
    { ...seen, name: 'forbidden', before: forbidding('/v1/connections') },
    { ...seen, name: 'came-back', path: `${LIST}?connected=${ID}` },
    { ...seen, name: 'refused', path: `${LIST}?error=provider_error&requestId=6b2f0a3e` },
    {
      ...seen,
      name: 'connect-server',
      async act(page) {
        await press('Connect a tool server')(page);
        await page.getByRole('combobox', { name: 'The server asks for' }).click();
        await page.getByRole('option', { name: /^Headers/ }).click();
        await page.getByLabel('Name of header 1').waitFor();
      },
    },
    { ...seen, name: 'connect-service', act: press('Connect Fixture') },
    { ...seen, name: 'connect-key', act: press('Connect Fixture with keys') },
    { ...one, name: 'one', act: (page) => page.getByText('https://tools.example.com/mcp').first().waitFor() },
    { ...one, name: 'reconnect', act: press('Replace credentials') },
    {
      ...one,
      name: 'delete',
      async act(page) {
        await press('More actions')(page);
        await page.getByRole('menuitem', { name: 'Delete' }).click();
        await page.getByRole('button', { name: 'Delete connection' }).waitFor();
      },
    },
    {
      name: 'lost',
      holds: true,
      path: `${LIST}/${OTHER}`,
      before: refusing(`/v1/connections/${OTHER}`, 404, missing),
      act: headed('Connection'),
    },
  ]);
});

test('the tools of a routine in all their states', async ({ api, visit }) => {
  const at = { path: `${AT}/routines/${ROUTINE}/tools` };
  const policies = `/v1/routines/${ROUTINE}/tools`;
  const none = answer('get', '/v1/routines/{routineId}/tools', []);
  await photograph(visit, 'tools', [
    {
      ...at,
      name: 'full',
      before: () => api.serve(...FULL),
      act: (page) => page.getByText('add_note').first().waitFor(),
    },
    { ...at, name: 'loading', before: holding(policies), loading: true },
    { ...at, name: 'failed', before: failing(policies) },
    { ...at, name: 'forbidden', before: forbidding(policies) },
    { ...at, name: 'confirm', act: press('Confirm delete_report') },
    {
      ...at,
      name: 'hold',
      async act(page) {
        await press('Change add_note')(page);
        await page.getByRole('radio', { name: /^Hold for approval/ }).click();
        await page.getByText('a person approves each call').waitFor();
        await page.getByRole('button', { name: 'Hold its calls' }).waitFor();
      },
    },
    {
      ...at,
      name: 'rules',
      holds: true,
      async act(page) {
        const rules = page.getByRole('region', { name: 'Standing rules' });
        await rules.getByText('7 of 10 uses left, ends in 5 days').waitFor();
        await rules.getByText('Calls whose priority is at most 3, with any other arguments.').waitFor();
        for (const end of ['Used up', 'Revoked', 'Ended, because the definition changed'])
          await rules.getByText(end, { exact: true }).waitFor();
      },
    },
    { ...at, name: 'review', act: press('Review read_rankings') },
    { ...at, name: 'disable', act: press('Disable add_note') },
    { ...at, name: 'empty', before: () => api.serve(...FULL, none) },
  ]);
});
