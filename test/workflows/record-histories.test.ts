import { afterEach, beforeAll, expect, test } from 'vitest';
import type { ApiClient } from '#test/support/client.ts';
import { signUp } from '#test/support/people.ts';
import { oneOfEach } from '#test/support/properties.ts';
import { sharedService, type Service } from '#test/support/service.ts';
import { keepable, record, replay } from './histories.ts';
import { closedHistory, SCENARIOS } from './scenarios.ts';

/** `npm run histories:record` stores the recorded histories. Otherwise the test only replays them. */
const KEEP = process.env['RECORD_HISTORIES'] === 'true';

let service: Service;
let key: ApiClient;

beforeAll(async () => {
  service = await sharedService({ worker: true });
  key = await (await signUp(service)).key();
});
afterEach(() => service.gateway.control.reset());

/** On each change, only one path of each workflow is tested: the corpus of `replay.test.ts` has all paths. */
const WAYS = Object.entries(SCENARIOS);

test.each(KEEP ? WAYS : oneOfEach(WAYS, ([name]) => name.split('-')[0]))(
  'a workflow that goes the way of %s can be replayed',
  async (name, run) => {
    const history = keepable(await closedHistory(service, await run(service, key)));
    expect(await replay([{ name, history }])).toEqual({ [name]: undefined });
    if (KEEP) await record(name, history);
  },
);
