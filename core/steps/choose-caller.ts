import type { ModelCaller } from './model-call.ts';

/** Sends each call to the gateway, or to the account that it is made on. */
export function chooseCaller(callers: {
  readonly gateway: ModelCaller;
  readonly accounts: ModelCaller;
}): ModelCaller {
  const { gateway, accounts } = callers;
  return {
    timeoutMs: Math.max(gateway.timeoutMs, accounts.timeoutMs),
    call: (input) => (input.account === undefined ? gateway : accounts).call(input),
    async close() {
      await Promise.all([gateway.close(), accounts.close()]);
    },
  };
}
