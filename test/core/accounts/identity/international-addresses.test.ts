import { expect } from 'vitest';
import { randomBytes } from 'node:crypto';
import { loadConfig } from '#lib/config/index.ts';
import { fromElsewhere, PASSWORD } from '#test/support/people.ts';
import { mailingTest } from '#test/core/delivery/notifications/fixture.ts';

const test = mailingTest({}, { worker: false });

const LINK = /(https?:\/\/\S+\/auth\/verify-email\?\S+)/;

test.for([
  ['bücher.example', 'xn--bcher-kva.example'],
  ['МОСКВА.рф', 'xn--80adxhks.xn--p1ai'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['faß.de', 'xn--fa-hia.de'],
] as const)(
  'a person at %s is invited, signs up, is mailed, and signs in with either form',
  async ([domain, ascii], { service, mailbox, person }) => {
    const local = `a${randomBytes(4).toString('hex')}`;
    const [email, inAscii] = [`${local}@${domain}`, `${local}@${ascii}`];
    const caller = service.anonymous.with({ Origin: service.config.UI_ORIGIN, ...fromElsewhere() });
    const ada = await person();
    const path = `/v1/organizations/${ada.organizationId}/invitations`;
    const invited = await ada.session.post(path, { email });
    expect([invited.status, invited.data.email]).toEqual([201, inAscii]);

    const signedUp = await caller.post('/auth/sign-up/email', { name: 'Grace', email, password: PASSWORD });
    expect([signedUp.status, signedUp.body.user.email]).toEqual([200, inAscii]);
    await fetch(await mailbox.find(inAscii, LINK), { redirect: 'manual' });
    for (const form of [email, inAscii]) {
      const signedIn = await caller
        .with(fromElsewhere())
        .post('/auth/sign-in/email', { email: form, password: PASSWORD });
      expect([signedIn.status, signedIn.body.user.email]).toEqual([200, inAscii]);
      const asked = await caller.with(fromElsewhere()).post('/auth/request-password-reset', { email: form });
      expect(asked.status).toBe(200);
    }
    await expect.poll(async () => (await mailbox.textsTo(inAscii)).length).toBe(4);
  },
);

test('an enquiry and the operator have addresses in either form', async ({ service }) => {
  const lead = { name: 'Grace', email: 'a@exämple.de', company: 'Navy', message: 'We would like to run more.' };
  const caller = service.anonymous.with({ Origin: service.config.UI_ORIGIN, ...fromElsewhere() });
  expect((await caller.post('/public/business-leads', lead)).status).toBe(202);
  const kept = await service.deps.database.rows`select email from business_leads where email like 'a@%'`;
  expect(kept).toEqual([{ email: 'a@xn--exmple-cua.de' }]);
  const config = loadConfig('api', {
    NODE_ENV: 'test',
    ...REQUIRED,
    LEADS_EMAIL: 'vertrieb@müller.example',
  });
  expect(config.LEADS_EMAIL).toBe('vertrieb@xn--mller-kva.example');
});

test.for([
  'jörg@example.com',
  '用户@例子.example',
  'a@ex ämple.de',
  'a@ä@example.com',
  'ä',
  'a@-ä-.-',
  'a@ä.de/x',
  'a@ä.de?x',
  'a@ä.de#x',
  'a@ä.de\\x',
])('%s is refused in words', async (email, { service }) => {
  const caller = service.anonymous.with({ Origin: service.config.UI_ORIGIN, ...fromElsewhere() });
  const { status, body } = await caller.post('/auth/sign-up/email', { name: 'Grace', email, password: PASSWORD });
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  const words = /^(jörg|用户|a@ä)@/u.test(email) ? /before the @ there can only be/ : /must be an e-mail address/;
  expect(body.error.message).toMatch(words);
});

const REQUIRED = {
  PUBLIC_URL: 'http://localhost:3000',
  UI_ORIGIN: 'http://localhost:3000',
  DATABASE_URL: 'postgres://localhost/x',
  TEMPORAL_ADDRESS: 'localhost:7233',
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  BETTER_AUTH_SECRET: randomBytes(32).toString('base64'),
  GATEWAY_BASE_URL: 'http://localhost:4010',
  GATEWAY_API_KEY: 'x',
};
