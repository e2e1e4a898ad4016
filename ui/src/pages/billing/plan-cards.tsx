import { Check } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { Button } from '#ui/parts/button.tsx';
import { cx } from '#ui/parts/cx.ts';
import { Section } from '#ui/parts/page.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import { allowanceLines, planName, price, type Billing } from './plans.ts';
import type { ProcessorActions } from './use-billing.ts';

type Offer = Billing['plans'][number];

export interface PlanCardsProps {
  readonly billing: Billing;
  readonly processor: ProcessorActions;
  /** True while a payment is under way, so that the page offers no second one. */
  readonly isConfirming: boolean;
}

/** Shows the plans side by side, each with its allowances and a button to choose it. */
export function PlanCards({ billing, processor, isConfirming }: PlanCardsProps) {
  const owners = useOwners(billing.isOwner);
  const barrier = owners ?? unless(!isConfirming, 'A payment is being confirmed.');
  return (
    <Section
      title="Plans"
      description={owners ?? 'An upgrade applies at once; a downgrade or a cancellation applies from the next period.'}
    >
      <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {billing.plans.map((offer) => (
          <Card key={offer.plan} offer={offer} billing={billing} processor={processor} barrier={barrier} />
        ))}
      </ul>
    </Section>
  );
}

interface CardProps {
  readonly offer: Offer;
  readonly billing: Billing;
  readonly processor: ProcessorActions;
  /** The reason why this person cannot change the plan now. */
  readonly barrier: string | undefined;
}

function Card({ offer, billing, processor, barrier }: CardProps) {
  const isCurrent = offer.plan === billing.plan;
  return (
    <li
      aria-current={isCurrent || undefined}
      className={cx('flex flex-col rounded-lg border bg-surface p-4', isCurrent ? 'border-accent' : 'border-line')}
    >
      <div className="flex h-5 items-center justify-between gap-2">
        <h3 className="text-base font-medium text-ink">{planName(offer.plan)}</h3>
        {isCurrent && <Badge tone="busy">Your plan</Badge>}
      </div>
      <p className="mt-1.5 text-muted">
        <span className="text-xl font-semibold tracking-tight text-ink tabular">
          {price(offer.priceCents, offer.currency)}
        </span>{' '}
        <span className="text-sm">a month</span>
      </p>
      <ul className="mt-3 mb-4 flex flex-col gap-1.5">
        {allowanceLines(offer.allowances).map((line) => (
          <li key={line} className="flex items-start gap-2 text-sm text-muted">
            <Check aria-hidden className="mt-0.5 size-4 shrink-0 text-faint" strokeWidth={1.75} />
            {line}
          </li>
        ))}
      </ul>
      <div className="mt-auto flex flex-col">
        <Action offer={offer} billing={billing} processor={processor} barrier={barrier} />
      </div>
    </li>
  );
}

function Action({ offer: { plan }, billing, processor, barrier }: CardProps) {
  const isSubscribed = billing.source === 'subscription';
  if (plan === billing.plan) return null;
  if (plan === 'free') {
    if (!isSubscribed || billing.subscription?.cancelsAt !== null) return null;
    return (
      <Button
        disabledReason={barrier ?? unless(billing.portal.available, NO_PORTAL)}
        busy={processor.isLeaving}
        onClick={processor.openPortal}
      >
        Cancel the subscription
      </Button>
    );
  }
  const name = planName(plan);
  const { available } = billing.checkout;
  return (
    <Button
      kind={isSubscribed || plan !== 'pro' ? 'secondary' : 'primary'}
      disabledReason={barrier ?? unless(available || (isSubscribed && billing.portal.available), NO_CHECKOUT)}
      busy={processor.isLeaving}
      onClick={() => (available ? processor.buy(plan) : processor.openPortal())}
    >
      {isSubscribed ? `Change to ${name}` : `Choose ${name}`}
    </Button>
  );
}

const NO_CHECKOUT = 'New subscriptions are not open at the moment.';
const NO_PORTAL = 'The pages of the payment processor cannot be opened at the moment.';

function unless(isThere: boolean, reason: string): string | undefined {
  return isThere ? undefined : reason;
}

/** Names who can change the plan; undefined for an owner. */
function useOwners(isOwner: boolean): string | undefined {
  const { organization } = useProjects();
  const members = useRead(
    '/v1/organizations/{organizationId}/members',
    { path: { organizationId: organization?.id ?? '' } },
    { enabled: organization !== undefined && !isOwner, staleMs: 60_000 },
  );
  if (isOwner) return undefined;
  const names = (members.data ?? []).filter(({ role }) => role === 'owner').map(({ name }) => name);
  if (names.length === 0) return 'Only owners can change the plan.';
  return `Only owners can change the plan: ${new Intl.ListFormat('en').format(names)}.`;
}
