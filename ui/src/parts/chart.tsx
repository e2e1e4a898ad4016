import { lazy, Suspense } from 'react';
import type { BarsProps } from './bars.tsx';
import { Skeleton } from './skeleton.tsx';

const Bars = lazy(() => import('./bars.tsx'));

/** Shows bars; loads their library when a chart is first shown. */
export function BarChart(props: BarsProps) {
  return (
    <Suspense fallback={<Skeleton className="h-44 w-full" />}>
      <Bars {...props} />
    </Suspense>
  );
}
