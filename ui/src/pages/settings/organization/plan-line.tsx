import { useRead } from '#ui/api/read.ts';
import { useProjectId } from '#ui/api/project.ts';
import { ButtonLink } from '#ui/parts/button.tsx';
import { Section } from '#ui/parts/page.tsx';

/** Links to the plan for those who pay, also while nothing is offered. */
export function PlanLine() {
  const projectId = useProjectId();
  const billing = useRead('/v1/billing', {}, { staleMs: 60_000 });
  if (billing.data === undefined || billing.data.source === 'self_hosted') return null;
  const { plan, source } = billing.data;
  return (
    <Section title="Plan" boxed>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-base text-muted">
          The organization is on the <span className="font-medium text-ink capitalize">{plan}</span>{' '}
          plan.
        </p>
        {source === 'subscription' && (
          <ButtonLink to="/p/$projectId/billing" params={{ projectId }}>
            Plan and payment
          </ButtonLink>
        )}
      </div>
    </Section>
  );
}
