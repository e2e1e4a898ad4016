import { useRouterState } from '@tanstack/react-router';
import { Link2Off } from 'lucide-react';
import { useAsk } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { jsonIn, unfenced } from '#ui/format/json-text.ts';
import { badgeOf } from '#ui/format/run-words.ts';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { RichText } from '#ui/parts/lazily.tsx';
import { usePageTitle } from '#ui/parts/page-title.ts';
import { Box, PageHeader } from '#ui/parts/page.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { Time } from '#ui/parts/time.tsx';
import TypedData from '#ui/parts/typed-data.tsx';

/** Shows one result to everyone who has its link. The token is behind the hash sign, so that it enters no log. */
export function SharedPage() {
  const token = useRouterState({ select: ({ location }) => location.hash });
  // Read only once, because each reading counts as a view.
  const shared = useAsk('/public/shared-results', { body: { token } }, { staleMs: Infinity });
  return (
    <main className="mx-auto w-full max-w-5xl px-4 pt-10 pb-16">
      {shared.error?.status === 404 ? (
        <Nothing />
      ) : (
        <Await of={shared} skeleton={<SkeletonText lines={8} />} errorTitle="The result could not be read">
          {(result) => <Result shared={result} />}
        </Await>
      )}
    </main>
  );
}

function Nothing() {
  usePageTitle('Nothing is shared here');
  return (
    <>
      <h1 className="sr-only">Nothing is shared here</h1>
      <EmptyState icon={Link2Off} title="This link shows no result">
        The link is incomplete, or it has ended. Ask the person who gave you the link for a new one.
      </EmptyState>
    </>
  );
}

function Result({ shared }: { readonly shared: Shape<'SharedResult'> }) {
  const { routineName, outcomeSummary, result, data, resultSchema, finishedAt, expiresAt } = shared;
  const isTyped = data !== null && data !== undefined;
  const isOnlyData = isTyped && result !== null && jsonIn(unfenced(result)) !== undefined;
  return (
    <article>
      <PageHeader
        title={routineName}
        badge={<StateBadge state={badgeOf(shared)} />}
        description={<Time at={finishedAt} />}
      />
      {outcomeSummary !== null && <p className="mb-4 text-base text-ink wrap-anywhere">{drawn(outcomeSummary)}</p>}
      {result !== null && !isOnlyData && (
        <Box className="px-5 py-4">
          <RichText text={result} outlined />
        </Box>
      )}
      {isTyped && (
        <div className="mt-6">
          <TypedData data={data} schema={resultSchema} changes={null} />
        </div>
      )}
      <p className="mt-8 text-sm text-muted">
        A model wrote this result. The link to it ends <Time at={expiresAt} as="relative" />.
      </p>
    </article>
  );
}
