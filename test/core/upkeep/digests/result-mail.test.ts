import { expect } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import type { Person } from '#test/support/people.ts';
import { activeRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { failedRun, mailingTest, newsTo, sendNow } from '#test/core/delivery/notifications/fixture.ts';

const test = mailingTest();

test.afterEach(({ service }) => service.gateway.control.reset());

function answer(service: Service, text: string): void {
  service.gateway.control.reset();
  service.gateway.control.script({ times: null, behaviour: { kind: 'text', text } });
}

/** Runs an active routine once, and sends the waiting mails. */
async function ended(service: Service, key: ApiClient, routineId: string) {
  const { id } = await runOnce(key, routineId);
  await sendNow(service);
  return (await key.get(`/v1/runs/${id}`)).data;
}

async function join(owner: Person, guest: Person): Promise<void> {
  const path = `/v1/organizations/${owner.organizationId}/invitations`;
  const { data } = await owner.session.post(path, { email: guest.email, role: 'member' });
  await guest.session.post('/v1/invitations/accept', { token: data.token });
}

test('a result is mailed to the people of its routine, as a page with one button and as text', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const key = await owner.key();
  const resultsTo = { mail: [owner.userId] };
  const routineId = await activeRoutine(key, { name: 'Weekly audit', resultsTo });
  answer(service, '# Findings\n\n- **Two** pages fail, see evil.example.com\n');
  const run = await ended(service, key, routineId);
  expect(run.notifications).toMatchObject([{ kind: 'result', state: 'sent' }]);
  const mails = await newsTo(mailbox, owner);
  expect(mails.map(({ subject }) => subject)).toEqual(['Changed: Weekly audit']);
  const { text, html } = mails[0]!;
  for (const body of [text, html]) {
    expect(body).toContain('Two pages fail');
    expect(body).toContain(`/runs/${run.id}`);
    expect(body).not.toContain('evil.example.com');
  }
  expect(html.match(/class="button"/g)).toHaveLength(1);
  expect(html).toContain('Open the result');
  // Each sentence appears once, and a cost that rounds to zero does not appear.
  for (const once of ['Weekly audit</a>', 'Two pages fail']) expect(html.split(once), once).toHaveLength(2);
  expect(html).not.toContain('$0.00');
  expect(html).toContain(new URL(service.config.UI_ORIGIN).host);
});

test('a result that is only data is mailed in words, and not as JSON', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const routineId = await activeRoutine(key, {
    resultsTo: { mail: 'owners' },
    instructions: 'List the teas.\nDATA {"items": [{"id": "oolong", "price": 4.5}], "count": 1}',
    resultSchema: {
      type: 'object',
      properties: { items: { type: 'array', items: { type: 'object' } }, count: { type: 'number' } },
    },
  });
  await ended(service, key, routineId);
  const [{ text, html } = { text: '', html: '' }] = await newsTo(mailbox, owner);
  for (const body of [text, html]) {
    expect(body).toContain('id oolong, price 4.5');
    expect(body).toContain('count: 1');
    expect(body).not.toMatch(/"items"|&#34;items/);
  }
});

test('a mail has the words of Markdown, without its signs and addresses', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const routineId = await activeRoutine(key, { resultsTo: { mail: 'owners' } });
  const rows = '| plan | price |\n|---|---:|\n| Pro | **59 USD** |';
  answer(service, `*Two* rose, see [the ~~old~~ page](https://evil.example/a_(b)).\n\n${rows}\n\n* snake_case_name\n`);
  await ended(service, key, routineId);
  const [{ text, html } = { text: '', html: '' }] = await newsTo(mailbox, owner);
  for (const line of ['Two rose, see the old page.', 'plan · price', 'Pro · 59 USD', 'snake_case_name']) {
    expect(text).toContain(`  ${line}\n`);
    expect(html).toContain(`>${line}<`);
  }
});

test('with only changes, the same result is mailed once', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const routineId = await activeRoutine(key, { resultsTo: { when: 'changed', mail: 'owners' } });
  answer(service, 'Six pages answer.');
  await ended(service, key, routineId);
  const same = await ended(service, key, routineId);
  expect(same.notifications).toEqual([]);
  answer(service, 'Five pages answer.');
  await ended(service, key, routineId);
  expect(await newsTo(mailbox, owner)).toHaveLength(2);
});

test('a person who leaves, or has ended mail about the routine, gets no results', async ({
  service,
  mailbox,
  person,
}) => {
  const [owner, guest] = [await person(), await person()];
  await join(owner, guest);
  const key = await owner.key();
  const routineId = await activeRoutine(key, { resultsTo: { mail: [guest.userId] } });
  const { id } = await runOnce(key, routineId);
  await service.deps.work.idle();
  await owner.session.delete(`/v1/organizations/${owner.organizationId}/members/${guest.userId}`);
  await sendNow(service);
  expect(await newsTo(mailbox, guest)).toEqual([]);
  const { notifications } = (await key.get(`/v1/runs/${id}`)).data;
  expect(notifications).toMatchObject([{ kind: 'result', state: 'cancelled' }]);
  const renamed = await key.patch(`/v1/routines/${routineId}`, { name: 'Renamed' });
  expect(renamed.data.resultsTo).toEqual({ when: 'each', mail: [guest.userId], chats: [] });
  const unknown = await key.patch(`/v1/routines/${routineId}`, { resultsTo: { mail: [guest.userId] } });
  expect(unknown.status).toBe(400);
});

test('who gets the results is no material change, and ten mails an hour are the most', async ({ service, person }) => {
  const owner = await person();
  const key = await owner.key();
  const routineId = await activeRoutine(key);
  const changed = await key.patch(`/v1/routines/${routineId}`, { resultsTo: { mail: 'owners' } });
  expect(changed.body).toMatchObject({ data: { state: 'active' } });
  const states: string[] = [];
  for (let run = 0; run < 11; run += 1) {
    states.push((await ended(service, key, routineId)).notifications[0].state);
  }
  expect(states).toEqual([...Array.from({ length: 10 }, () => 'sent'), 'cancelled']);
});

test('owners of a new project are mailed of failures, and of no success', async ({ service, mailbox, person }) => {
  const owner = await person();
  const key = await owner.key();
  const routineId = await activeRoutine(key, { name: 'Audit' });
  await ended(service, key, routineId);
  await failedRun(service, key, routineId);
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ subject }) => subject)).toEqual(['Failed: Audit']);
});
