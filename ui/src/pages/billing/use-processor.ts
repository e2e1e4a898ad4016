import { useSend } from '#ui/api/send.ts';
import type { PaidPlan } from './plans.ts';
import { visitProcessor } from './visit.ts';

/** Offers the two ways to the pages of the payment processor; errors are shown in a toast. */
export function useProcessor() {
  const portal = useSend('post', '/v1/billing/portal', {
    onDone: ({ url }) => visitProcessor(url),
  });
  const checkout = useSend('post', '/v1/billing/checkout', {
    onDone: ({ url }) => visitProcessor(url),
  });
  return {
    openPortal: () => portal.send(),
    buy: (plan: PaidPlan) => checkout.send({ body: { plan, entrypoint: 'billing' } }),
    /** The browser is about to leave; set also once the address is there. */
    isLeaving: portal.isSending || checkout.isSending,
    isOpeningPortal: portal.isSending || portal.data !== undefined,
  };
}

export type ProcessorActions = ReturnType<typeof useProcessor>;
