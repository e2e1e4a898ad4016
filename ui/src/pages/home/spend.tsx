import { useRead } from '#ui/api/read.ts';
import { useNow } from '#ui/format/now.ts';
import { capitalized } from '#ui/format/capitalized.ts';
import { count, money, moneyBeside, moneyInWords, plural } from '#ui/format/numbers.ts';
import { Await } from '#ui/parts/feedback.tsx';
import { Meter } from '#ui/parts/meter.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { projectOf, usageUpTo } from './reads.ts';

/** Shows the cost of the month so far, against the budget of the project if it has one. */
export function Spend({ projectId }: { readonly projectId: string }) {
  const today = useNow(60_000).toISOString().slice(0, 10);
  const usage = useRead(...usageUpTo(today), { everyMs: 60_000 });
  const project = useRead(...projectOf(projectId));
  const budget = project.data?.budget;
  return (
    <Section
      title="This month"
      boxed
      actions={
        <TextLink to="/p/$projectId/usage" params={{ projectId }}>
          Usage
        </TextLink>
      }
    >
      <Await of={usage} skeleton={<SkeletonText />} errorTitle="The usage could not be read">
        {({ total, groups }) => (
          <div className="flex flex-col gap-5">
            <div>
              <p className="text-xl font-semibold tracking-tight text-ink tabular">
                {total.steps === 0 ? money(0) : capitalized(moneyInWords(total.costUsd))}
              </p>
              <p className="mt-0.5 text-sm text-muted">
                {count(total.totalTokens)} tokens in {plural(total.steps, 'model step')}
              </p>
            </div>
            {budget?.maxCostUsdPerMonth != null && (
              <Meter
                label="Budget"
                value={Number(total.costUsd ?? 0)}
                max={Number(budget.maxCostUsdPerMonth)}
                format={(value) => moneyBeside(value, budget.maxCostUsdPerMonth ?? 0)}
              />
            )}
            {budget?.maxTokensPerDay != null && (
              <Meter
                label="Tokens today"
                value={groups.find(({ key }) => key === today)?.totalTokens ?? 0}
                max={budget.maxTokensPerDay}
              />
            )}
            {budget !== undefined && budget.maxCostUsdPerMonth === null && budget.maxTokensPerDay === null && (
              <p className="text-sm text-muted">
                This project has no budget.{' '}
                <TextLink to="/p/$projectId/settings" params={{ projectId }}>
                  Set one
                </TextLink>
              </p>
            )}
            <p className="text-xs text-faint">Days and months are in UTC.</p>
          </div>
        )}
      </Await>
    </Section>
  );
}
