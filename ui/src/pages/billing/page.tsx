import { getRouteApi } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { useRead } from '#ui/api/read.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Skeleton } from '#ui/parts/skeleton.tsx';
import { useProjects } from '#ui/shell/projects.ts';
import { CurrentPlan } from './current-plan.tsx';
import { Enquiry } from './enquiry.tsx';
import { Notices } from './notices.tsx';
import { PlanCards } from './plan-cards.tsx';
import { useBilling } from './use-billing.ts';
import { useProcessor } from './use-processor.ts';

const { useSearch } = getRouteApi('/account/p/$projectId/billing');

/** Shows the plan of the organization; buying and paying happen on the pages of the payment processor. */
export function BillingPage() {
  const { checkout } = useSearch();
  const { organization } = useProjects();
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const { billing, confirmation } = useBilling(checkout);
  const processor = useProcessor();
  const mayManage = billing.data?.isOwner === true && billing.data.portal.available;
  const isOffered =
    config.data?.commercialAcquisition === true && billing.data?.source !== 'self_hosted';
  return (
    <>
      <PageHeader
        title="Billing"
        description={organization && `The plan of ${organization.name}, for all of its projects.`}
        actions={
          mayManage && (
            <Button
              icon={ExternalLink}
              busy={processor.isOpeningPortal}
              onClick={processor.openPortal}
            >
              Invoices and payment
            </Button>
          )
        }
      />
      <Await of={billing} skeleton={<Loading />} errorTitle="The billing could not be read">
        {(data) => (
          <>
            <Notices
              billing={data}
              checkout={checkout}
              confirmation={confirmation}
              processor={processor}
            />
            <CurrentPlan billing={data} />
            {isOffered && (
              <>
                <PlanCards
                  billing={data}
                  processor={processor}
                  isConfirming={confirmation === 'awaited'}
                />
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
