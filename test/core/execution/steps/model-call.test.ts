import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startGateway, type Gateway } from '#dev/fakes/gateway/server.ts';
import type { ModelCaller } from '#core/execution/steps/index.ts';
import { callerAt, callOf } from '#test/support/model-caller.ts';

let gateway: Gateway;
let caller: ModelCaller;

beforeAll(async () => {
  gateway = await startGateway({ port: 0, log: () => undefined });
  caller = callerAt(gateway.url);
});
afterAll(async () => {
  await caller.close();
  await gateway.stop();
});

test('a call that is over is held by nothing, long before its deadline', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const contexts: WeakRef<object>[] = [];
  for (let call = 0; call < 20; call += 1) contexts.push(await callOnce());
  for (let turn = 0; turn < 10; turn += 1) {
    await setImmediate();
    collectGarbage();
  }
  const held = contexts.filter((context) => context.deref() !== undefined);
  // The last one or two calls may still be on a stack.
  expect(held.length).toBeLessThanOrEqual(2);
});

/**
 * Makes a call in a separate async context, as each activity does. The test does not await the call itself, because
 * that would keep the context alive.
 */
async function callOnce(): Promise<WeakRef<object>> {
  const context = {};
  await activity.run(context, () => caller.call(callOf('fixture/writer-small')));
  return new WeakRef(context);
}

const activity = new AsyncLocalStorage<object>();
