import { expect } from 'vitest';
import { AT_ONCE, sql, type Db, type Sql } from '#lib/database/index.ts';
import { mailingTest, newsTo, sendNow } from '#test/core/delivery/notifications/fixture.ts';
import {
  ahead,
  changeMessages,
  changeWork,
  claimAsBefore,
  ifAny,
  plantMails,
  removeWork,
} from '#test/support/given.ts';

const test = mailingTest({}, { worker: false });

/** Deletes the work rows of messages, because the previous release has none. */
async function leftBehind(db: Db, ids: readonly string[], nextAttemptAt: Sql): Promise<void> {
  await removeWork(db, { kind: 'mail', key: ids });
  await changeMessages(db, ids, { nextAttemptAt });
}

test('mails that the release before has left are sent once they are due there, and not while it has them', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const { database } = service.deps;
  const planted = await plantMails(database, owner, 3);
  const [due = '', waiting = '', leased = ''] = planted;
  await leftBehind(database, [due, leased], AT_ONCE);
  await leftBehind(database, [waiting], sql`${ahead('1 hour')}`);
  await changeMessages(database, [due], { nextAttemptAt: sql`${ahead('1 hour')}` });
  expect((await claimAsBefore(database, 10)).map(({ id }) => id)).toEqual([leased]);
  await changeMessages(database, [due], { nextAttemptAt: AT_ONCE });

  await sendNow(service);
  await sendNow(service);
  expect((await newsTo(mailbox, owner)).map(({ headers }) => headers['message-id'])).toEqual([
    expect.stringContaining(due),
  ]);
  // The lease has expired without a result: the process has died.
  await changeMessages(database, [leased, waiting], { nextAttemptAt: AT_ONCE });
  await sendNow(service);
  expect(await newsTo(mailbox, owner)).toHaveLength(3);
});

test('a process of the release before that claims while this one works off sends no mail that this one sends', async ({
  service,
  mailbox,
  person,
}) => {
  const owner = await person();
  const { database } = service.deps;
  const theirs = await plantMails(database, owner, 60);
  await leftBehind(database, theirs, AT_ONCE);
  await plantMails(database, owner, 20);
  const claims = Array.from({ length: 10 }, () => claimAsBefore(database, 3));
  const [claimed] = await Promise.all([Promise.all(claims), sendNow(service), sendNow(service)]);
  await sendNow(service);
  const before = claimed.flat().map(({ id }) => id);
  expect(new Set(before).size).toBe(before.length);
  const sent = (await newsTo(mailbox, owner)).map(({ headers }) => headers['message-id']?.slice(1).split('@')[0]);
  expect(sent.filter((id) => before.includes(id ?? ''))).toEqual([]);
  expect(new Set([...sent, ...before]).size).toBe(80);
  expect(sent).toHaveLength(80 - before.length);
});

test('a mail of this release is not due for the release before, also while it waits for its next attempt', async ({
  service,
  person,
}) => {
  const owner = await person();
  const { database } = service.deps;
  const mailer = {
    attempt: () => Promise.resolve({ kind: 'away' as const, message: 'away' }),
    close: () => undefined,
  };
  const [id = ''] = await plantMails(database, owner, 1);
  await sendNow({ deps: { ...service.deps, mailer } });
  expect(await claimAsBefore(database, 100)).toEqual([]);
  await changeWork(database, ifAny({ key: id }), { dueAt: AT_ONCE });
  expect(await claimAsBefore(database, 100)).toEqual([]);
});
