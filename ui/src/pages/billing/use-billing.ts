import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead, type Loaded } from '#ui/api/read.ts';
import { refresh, useSend } from '#ui/api/send.ts';
import type { Billing, PaidPlan } from './plans.ts';

/** Most payments are confirmed within this time. Afterwards the page says that it still waits. */
const USUAL_MS = 60_000;

/** State of the confirmation of a payment: none is expected, it is awaited, it is late, or it has arrived. */
export type Confirmation = 'none' | 'awaited' | 'late' | 'confirmed';

/**
 * Reads the billing of the organization. After a checkout it asks the payment processor through the API until the
 * payment is known, and after a visit to the portal once. The browser's return proves nothing.
 */
export function useBilling(checkout: string | undefined): {
  readonly billing: Loaded<Billing>;
  readonly confirmation: Confirmation;
} {
  const client = useQueryClient();
  const projectId = useProjectId();
  const isBack = checkout === 'done';
  const [asks, setAsks] = useState(() => takeVisit() || isBack);
  const [isLate, setLate] = useState(false);
  const billing = useRead('/v1/billing', asks ? { query: { refresh: 'true' } } : {}, {
    everyMs: asks ? 2_000 : 30_000,
    keepPrevious: true,
  });
  const isPaid = billing.data?.source === 'subscription';
  const isOver = asks && (isBack ? isPaid : billing.data !== undefined);
  useEffect(() => {
    if (!isOver) return;
    // oxlint-disable-next-line react/set-state-in-effect -- the payment is known, and the plan is read again below
    setAsks(false);
    void refresh(client, projectId, ['/v1/billing']);
  }, [isOver, client, projectId]);
  const waits = isBack && !isPaid;
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setTimeout(() => setLate(true), USUAL_MS);
    return () => clearTimeout(timer);
  }, [waits]);
  if (!isBack) return { billing, confirmation: 'none' };
  if (isPaid) return { billing, confirmation: 'confirmed' };
  return { billing, confirmation: isLate ? 'late' : 'awaited' };
}

/** Returns the actions that open the pages of the payment processor. Errors are shown in a toast. */
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
    /** True while the browser is about to leave, also after the address has arrived. */
    isLeaving: portal.isSending || checkout.isSending,
    isOpeningPortal: portal.isSending || portal.data !== undefined,
  };
}

export type ProcessorActions = ReturnType<typeof useProcessor>;

const KEY = 'billingVisit';

/** Leaves for a page of the payment processor. */
function visitProcessor(address: string): void {
  sessionStorage.setItem(KEY, 'away');
  location.assign(address);
}

/** Tells whether this tab returns from a page of the payment processor. A second call returns false. */
function takeVisit(): boolean {
  const kept = sessionStorage.getItem(KEY) !== null;
  sessionStorage.removeItem(KEY);
  return kept;
}
