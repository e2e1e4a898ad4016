import { date, exactTime } from '#ui/format/times.ts';
import { Meter } from '#ui/parts/meter.tsx';
import { KeyValue, Section, type Fact } from '#ui/parts/page.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { planName, price, type Billing } from './plans.ts';

/** The plan that counts now, its subscription and how much of it is used. */
export function CurrentPlan({ billing }: { readonly billing: Billing }) {
  const { allowances, usage } = billing;
  return (
    <Section title="Your plan" boxed>
      <KeyValue inline facts={factsOf(billing)} />
      <div className="mt-5 grid gap-x-10 gap-y-5 border-t border-line pt-4 sm:grid-cols-2">
        <Meter label="Runs in this period" value={usage.runs} max={allowances.runs} />
        <Meter
          label="Active routines"
          value={usage.activeRoutines}
          max={allowances.activeRoutines}
        />
      </div>
    </Section>
  );
}

function factsOf(billing: Billing): readonly Fact[] {
  const { subscription, period, source, plan, status } = billing;
  const facts: Fact[] = [
    { label: 'Plan', value: <span className="font-medium">{planName(plan)}</span> },
  ];
  if (source === 'self_hosted') {
    facts.push({ label: 'Given by', value: 'The operator of this service' });
  }
  if (subscription !== null && status !== null) {
    facts.push({ label: 'Subscription', value: <StateBadge state={status} /> });
    if (source === 'subscription') {
      const { priceCents, currency, interval } = subscription;
      if (priceCents !== null && currency !== null) {
        facts.push({
          label: 'Price',
          value: `${price(priceCents, currency)}${interval === null ? '' : ` a ${interval}`}`,
        });
      }
      facts.push({ label: 'Since', value: <Day at={subscription.startedAt} /> });
    }
  }
  const end = source === 'subscription' ? subscription?.cancelsAt : undefined;
  const label = period.kind === 'month' || end ? 'Period ends' : 'Renews';
  facts.push({ label, value: <Day at={period.end} utc={period.kind === 'month'} /> });
  return facts;
}

/** Calendar months end in UTC; what is paid for ends where the reader is. */
function Day({ at, utc = false }: { readonly at: string; readonly utc?: boolean }) {
  const instant = new Date(at);
  const zone = utc ? 'UTC' : undefined;
  return (
    <time dateTime={at} title={exactTime(instant, zone)}>
      {date(instant, zone)}
    </time>
  );
}
