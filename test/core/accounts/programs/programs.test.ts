import { expect } from 'vitest';
import { approveAsked, enterAssistant } from '#test/support/assistants.ts';
import { openTerminal } from '#test/support/terminals.ts';
import { mailingTest, newsTo, sendNow } from '#test/core/delivery/notifications/fixture.ts';

const test = mailingTest({}, { worker: false });

const SUBJECT = 'A program was given access in your name';

test('a person is mailed when a terminal, or an assistant that writes, is approved from their account', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const there = owner.session.with({ 'X-Project-Id': owner.projectId });
  const mailed = async () => {
    await sendNow(service);
    return (await newsTo(mailbox, owner)).filter(({ subject }) => subject === SUBJECT);
  };

  const reader = await enterAssistant(service);
  expect((await approveAsked(owner, await reader.ask(), ['runs:read'])).status).toBe(200);
  expect(await mailed()).toEqual([]);

  const writer = await enterAssistant(service);
  expect((await approveAsked(owner, await writer.ask(), ['runs:read', 'runs:write'])).status).toBe(200);
  const [ofAssistant, ...none] = await mailed();
  expect(none).toEqual([]);
  expect(ofAssistant?.text).toContain(`The assistant "${writer.name}" has access to the project "Default"`);
  expect(ofAssistant?.text).toContain('approved from your account: to read runs, write runs.');
  expect(ofAssistant?.text).toContain(`${service.config.UI_ORIGIN}/p/${owner.projectId}/settings?tab=assistants`);
  expect(ofAssistant?.headers).not.toHaveProperty('list-unsubscribe');

  const terminal = await openTerminal(service);
  const approve = `/v1/terminal-sign-ins/${terminal.userCode}/approve`;
  expect((await there.post(approve, { scopes: ['runs:read'] })).status).toBe(200);
  const texts = (await mailed()).map(({ text }) => text);
  expect(texts).toHaveLength(2);
  expect(texts.find((text) => text.includes(`"${terminal.host}", at the address ${terminal.address}`))).toContain(
    `${service.config.UI_ORIGIN}/p/${owner.projectId}/api-keys`,
  );
});
