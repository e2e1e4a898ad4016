import { getRouteApi } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { submitTo } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { date, exactTime } from '#ui/format/times.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, Notice } from '#ui/parts/feedback.tsx';
import { Field, FormError } from '#ui/parts/field.tsx';
import { Input, Textarea } from '#ui/parts/input.tsx';
import { Meter } from '#ui/parts/meter.tsx';
import { KeyValue, PageHeader, Section, type Fact } from '#ui/parts/page.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import { Notices } from './notices.tsx';
import { PlanCards } from './plan-cards.tsx';
import { planName, price, type Billing } from './plans.ts';
import { useBilling, useProcessor } from './use-billing.ts';

const { useSearch } = getRouteApi('/account/p/$projectId/billing');

/** Shows the plan of the organization; buying and paying happen on the pages of the payment processor. */
export function BillingPage() {
  const { checkout } = useSearch();
  const { organization } = useProjects();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const { billing, confirmation } = useBilling(checkout);
  const processor = useProcessor();
  const mayManage = billing.data?.isOwner === true && billing.data.portal.available;
  const isOffered = config.data?.commercialAcquisition === true && billing.data?.source !== 'self_hosted';
  return (
    <>
      <PageHeader
        title="Billing"
        description={organization && `The plan of ${organization.name}, for all of its projects.`}
        actions={
          mayManage && (
            <Button icon={ExternalLink} busy={processor.isOpeningPortal} onClick={processor.openPortal}>
              Invoices and payment
            </Button>
          )
        }
      />
      <Await of={billing} skeleton={<Loading />} errorTitle="The billing could not be read">
        {(data) => (
          <>
            <Notices billing={data} checkout={checkout} confirmation={confirmation} processor={processor} />
            <CurrentPlan billing={data} />
            {isOffered && (
              <>
                <PlanCards billing={data} processor={processor} isConfirming={confirmation === 'awaited'} />
                {organization && <Enquiry company={organization.name} />}
              </>
            )}
          </>
        )}
      </Await>
    </>
  );
}

function Loading() {
  return (
    <div aria-hidden className="flex flex-col gap-8">
      <Skeleton className="h-40 rounded-lg" />
      <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {['free', 'starter', 'pro', 'scale'].map((plan) => (
          <Skeleton key={plan} className="h-56 rounded-lg" />
        ))}
      </div>
    </div>
  );
}

/** Shows the current plan, its subscription and its use. */
function CurrentPlan({ billing }: { readonly billing: Billing }) {
  const { allowances, usage } = billing;
  return (
    <Section title="Your plan" boxed>
      <KeyValue inline facts={factsOf(billing)} />
      <div className="mt-5 grid gap-x-10 gap-y-5 border-t border-line pt-4 sm:grid-cols-2">
        <Meter label="Runs in this period" value={usage.runs} max={allowances.runs} />
        <Meter label="Active routines" value={usage.activeRoutines} max={allowances.activeRoutines} />
      </div>
    </Section>
  );
}

function factsOf(billing: Billing): readonly Fact[] {
  const { subscription, period, source, plan, status } = billing;
  const facts: Fact[] = [{ label: 'Plan', value: <span className="font-medium">{planName(plan)}</span> }];
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

/** Shows a day: the end of a calendar month in UTC, or the end of a paid period in the reader's time zone. */
function Day({ at, utc = false }: { readonly at: string; readonly utc?: boolean }) {
  const instant = new Date(at);
  const zone = utc ? 'UTC' : undefined;
  return (
    <time dateTime={at} title={exactTime(instant, zone)}>
      {date(instant, zone)}
    </time>
  );
}

/** Lets a person ask for something that no plan has, such as more volume or a contract. */
function Enquiry({ company }: { readonly company: string }) {
  const { user } = useSession();
  const [sentFrom, setSentFrom] = useState<string>();
  const form = useForm({
    defaultValues: { name: user.name, email: user.email, company, message: '', website: '' },
  });
  const { errors } = form.formState;
  const ask = useSend('post', '/public/business-leads', { showsError: true });
  const submit = submitTo(form, async (body) => {
    await ask.sendAsync({ body });
    setSentFrom(body.email);
    form.resetField('message');
  });
  return (
    <Section
      title="Something larger?"
      description="If you need more than the plans offer, a yearly invoice, or an answer before you decide, write to us."
      boxed
    >
      {sentFrom === undefined ? (
        <form onSubmit={submit} className="flex flex-col gap-4">
          <div className="grid gap-4 lg:grid-cols-3">
            <Field label="Your name" error={errors.name?.message}>
              <Input {...form.register('name')} autoComplete="name" />
            </Field>
            <Field label="E-mail address" error={errors.email?.message}>
              <Input {...form.register('email')} autoComplete="email" inputMode="email" />
            </Field>
            <Field label="Company" error={errors.company?.message}>
              <Input {...form.register('company')} autoComplete="organization" />
            </Field>
          </div>
          <Field label="What do you need?" error={errors.message?.message}>
            <Textarea {...form.register('message')} rows={5} maxLength={5_000} />
          </Field>
          {/* People neither see nor reach this field, so only a robot fills it in. */}
          <input {...form.register('website')} type="text" hidden tabIndex={-1} autoComplete="off" aria-hidden />
          <FormError message={errors.root?.message} />
          <div>
            <Button type="submit" busy={ask.isSending}>
              Send the enquiry
            </Button>
          </div>
        </form>
      ) : (
        <Notice tone="good">
          <span className="grow">Sent. We will answer to {sentFrom}.</span>
          <Button size="sm" onClick={() => setSentFrom(undefined)}>
            Write again
          </Button>
        </Notice>
      )}
    </Section>
  );
}
