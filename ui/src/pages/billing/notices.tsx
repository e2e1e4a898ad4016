import { date, exactTime } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { planName, type Billing } from './plans.ts';
import type { Confirmation, ProcessorActions } from './use-billing.ts';

export interface NoticesProps {
  readonly billing: Billing;
  readonly checkout: string | undefined;
  readonly confirmation: Confirmation;
  readonly processor: ProcessorActions;
}

/** Shows urgent notices first: a pending or failed payment, a subscription about to end. */
export function Notices({ billing, checkout, confirmation, processor }: NoticesProps) {
  return (
    <div className="mb-6 flex flex-col gap-2 empty:hidden" aria-live="polite">
      {confirmation === 'awaited' && <Notice busy>Confirming the payment. This usually takes a few seconds.</Notice>}
      {confirmation === 'late' && (
        <Notice busy>
          The payment is not confirmed yet. You can leave this page: the plan changes by itself once the payment is
          known.
        </Notice>
      )}
      {confirmation === 'confirmed' && (
        <Notice tone="good">The payment is confirmed. You are on the {planName(billing.plan)} plan.</Notice>
      )}
      {checkout === 'cancelled' && (
        <Notice>You left the checkout. Nothing was charged, and nothing has changed.</Notice>
      )}
      <Attention billing={billing} processor={processor} />
      <Cancellation billing={billing} processor={processor} />
    </div>
  );
}

function Attention({ billing, processor }: Pick<NoticesProps, 'billing' | 'processor'>) {
  if (billing.attention === null) return null;
  const { until } = billing.attention;
  return (
    <Notice tone="bad">
      <p className="grow basis-80">
        <span className="font-medium">The last payment failed.</span>{' '}
        {until === null ? (
          'The plan no longer applies.'
        ) : (
          <>
            The {planName(billing.plan)} plan lasts until <Day at={until} /> all the same. Pay before then to keep it.
          </>
        )}
      </p>
      <ToPortal billing={billing} processor={processor} label="Update the payment" />
    </Notice>
  );
}

function Cancellation({ billing, processor }: Pick<NoticesProps, 'billing' | 'processor'>) {
  const end = billing.subscription?.cancelsAt ?? null;
  if (end === null || billing.source !== 'subscription') return null;
  const free = billing.plans.find(({ plan }) => plan === 'free')?.allowances.activeRoutines;
  return (
    <Notice tone="warn">
      <p className="grow basis-80">
        <span className="font-medium">
          The subscription ends on <Day at={end} />.
        </span>{' '}
        From then on the Free plan applies{free !== undefined && ` (${free} active routines)`}. No routine is paused,
        but no further routine can be activated.
      </p>
      <ToPortal billing={billing} processor={processor} label="Keep the subscription" />
    </Notice>
  );
}

function ToPortal({
  billing,
  processor,
  label,
}: Pick<NoticesProps, 'billing' | 'processor'> & { readonly label: string }) {
  if (!billing.isOwner || !billing.portal.available) return null;
  return (
    <Button size="sm" className="sm:-my-0.5" busy={processor.isOpeningPortal} onClick={processor.openPortal}>
      {label}
    </Button>
  );
}

function Day({ at }: { readonly at: string }) {
  const instant = new Date(at);
  return (
    <time dateTime={at} title={exactTime(instant)} className="font-medium whitespace-nowrap">
      {date(instant)}
    </time>
  );
}
