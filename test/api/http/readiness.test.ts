import { expect, test as base, vi } from 'vitest';
import { limitLooks } from '#api/http/address-limits.ts';
import { serviceTest } from '#test/support/fixtures.ts';

const test = serviceTest();

function finding(nth: number) {
  return { database: `look ${nth}`, temporal: undefined };
}

base('beyond 120 looks a minute an address gets what was found last, for five seconds', async () => {
  let now = 0;
  let looks = 0;
  const readiness = limitLooks(() => now);
  const ask = (address: string) =>
    readiness(address, async () => {
      looks += 1;
      return finding(looks);
    });
  for (let count = 1; count <= 120; count += 1) expect(await ask('a')).toEqual(finding(count));
  expect(await ask('a')).toEqual(finding(120));
  expect(await ask('b')).toEqual(finding(121));
  expect(await ask('a')).toEqual(finding(121));
  now += 5_000;
  expect(await ask('a')).toEqual(finding(122));
  expect(await ask('a')).toEqual(finding(122));
  now += 55_000;
  expect([await ask('a'), await ask('a')]).toEqual([finding(123), finding(124)]);
});

test('a client that probes without end is never refused but gets the last result, and others get a new one', async ({
  service,
}) => {
  const from = (address: string) => service.anonymous.with({ 'X-Forwarded-For': address });
  const statuses = new Set<number>();
  const askOften = async (times: number) => {
    for (let count = 0; count < times; count += 1) {
      // All addresses of one IPv6 network count as one caller.
      statuses.add((await from(`2001:db8:7:7::${count.toString(16)}`).get('/ready')).status);
    }
  };
  await askOften(125);
  const statements = vi.spyOn(service.deps.database, 'query');
  await askOften(20);
  expect(statements.mock.calls.length).toBeLessThanOrEqual(1);
  statements.mockClear();
  statuses.add((await from('198.51.100.23').get('/ready')).status);
  expect(statements).toHaveBeenCalled();
  statements.mockRestore();
  expect([...statuses]).toEqual([200]);
});
