import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useRead, type Loaded } from '#ui/api/read.ts';
import { refresh } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Billing } from './plans.ts';
import { takeVisit } from './visit.ts';

/** Time within which a payment is usually confirmed; after it the page goes on asking, and says so. */
const USUAL_MS = 60_000;

/** State of the confirmation of a payment: none is expected, it is awaited, it is late, or it has arrived. */
export type Confirmation = 'none' | 'awaited' | 'late' | 'confirmed';

/**
 * Reads the billing of the organization. After a checkout the payment processor is asked through the API until it knows
 * of the payment, and once after a visit to its portal: that the browser came back says nothing.
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
    // oxlint-disable-next-line react/set-state-in-effect -- once it is known, it is also read again below
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
