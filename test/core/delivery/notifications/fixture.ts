import { createTickParts } from '#core/scheduling/index.ts';
import { AT_ONCE } from '#lib/database/index.ts';
import type { Person } from '#test/support/people.ts';
import { newEmail, PASSWORD, postAuth, signIn } from '#test/support/people.ts';
import { serviceTest } from '#test/support/fixtures.ts';
import { startMailbox, type Mailbox } from '#test/support/mail.ts';
import { activeRoutine, createRoutine, runOnce } from '#test/support/routines.ts';
import { startService, type Service } from '#test/support/service.ts';
import { changeNotified, changeWork, earlier, ifAny } from '#test/support/given.ts';

/** Makes tests with a service that sends mails, by default with workers. Each new person has a confirmed address. */
export function mailingTest(env: Record<string, string> = {}, { worker = true } = {}) {
  return serviceTest()
    .extend('mailbox', { scope: 'file' }, async ({ options: _options }, { onCleanup }) => {
      const mailbox = await startMailbox();
      onCleanup(() => mailbox.stop());
      return mailbox;
    })
    .extend('service', { scope: 'file' }, async ({ mailbox }, { onCleanup }) => {
      const service = await startService({ worker, env: { ...mailbox.env, ...env } });
      onCleanup(() => service.close());
      return service;
    })
    .extend(
      'person',
      ({ service, mailbox }) =>
        () =>
          confirmedPerson(service, mailbox),
    );
}

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;

export async function confirmedPerson(service: Service, mailbox: Mailbox): Promise<Person> {
  const email = newEmail();
  await postAuth(service, '/auth/sign-up/email', { email, password: PASSWORD, name: 'Grace' });
  await fetch(await mailbox.find(email, LINK), { redirect: 'manual' });
  return signIn(service, email);
}

/** Runs the part of a tick that sends mails, after the service has finished its immediate work. */
export async function sendNow({ deps }: Pick<Service, 'deps'>): Promise<number> {
  await deps.work.idle();
  return createTickParts(deps).messages(new AbortController().signal);
}

/** Ends the wait after a failed attempt, or the lease of an attempt that died. */
export async function makeDue({ deps: { database } }: Pick<Service, 'deps'>): Promise<void> {
  await changeWork(database, ifAny({ failedAt: null }), { dueAt: AT_ONCE });
}

/** Ends the hour since the last mail about a routine. */
export async function passHour(service: Service, routineId: string): Promise<void> {
  await service.deps.work.idle();
  const mailedAt = earlier('61 minutes');
  await changeNotified(service.deps.database, ifAny({ routineId }), { mailedAt });
}

export const REFUSED = 'Refused, and no mail may say why.';

/** Makes the next runs fail by a fault of the routine, until the control is reset. */
export function failRuns(service: Service): void {
  service.gateway.control.script({
    times: null,
    behaviour: { kind: 'text', text: REFUSED, finishReason: 'content_filter' },
  });
}

export async function failedRun(service: Service, client: ClientOf, routineId: string) {
  failRuns(service);
  const run = await runOnce(client, routineId);
  service.gateway.control.reset();
  if (run.state !== 'failed') throw new Error(`the run ended ${run.state}`);
  await service.deps.work.idle();
  return (await client.get(`/v1/runs/${run.id}`)).data;
}

type ClientOf = Parameters<typeof createRoutine>[0];

/** Makes a run fail, so that a mail to its owner is queued but not sent. */
export async function mailedFailure(service: Service, person: () => Promise<Person>) {
  const owner = await person();
  const key = await owner.key();
  return { owner, key, run: await failedRun(service, key, await watchedRoutine(key)) };
}

/** Makes a draft whose owner gets mails about every event. */
export function watchedRoutine(client: ClientOf, fields: Record<string, unknown> = {}) {
  return createRoutine(client, { notifications: { mail: EVERYTHING }, ...fields });
}

export function activeWatched(client: ClientOf, fields: Record<string, unknown> = {}) {
  return activeRoutine(client, { notifications: { mail: EVERYTHING }, ...fields });
}

export const EVERYTHING = {
  on: ['failed', 'paused', 'budget', 'partial', 'recovered'],
  to: 'owners',
};

/** Returns the mails to a person about routines, newest first. */
export async function newsTo(mailbox: Mailbox, { email }: Person) {
  const mails = await mailbox.mailsTo(email);
  return mails.filter(({ subject }) => !/^(Confirm|Invitation)/.test(subject));
}

export function outboxOf({ deps: { database } }: Service, projectId: string) {
  return database.rows<{
    id: string;
    kind: string;
    state: string;
    error: string | null;
    content: unknown;
  }>`select o.id, o.kind, o.state, coalesce(w.error, o.error) as error, o.content from outbox o
    left join work w on w.key = o.id where o.project_id = ${projectId} order by o.id`;
}
