import { lazy } from 'react';
import type { BarsProps } from './bars.tsx';
import { Lazily } from './lazily.tsx';
import { Skeleton } from './skeleton.tsx';

const Bars = lazy(() => import('./bars.tsx'));

/** Shows bars; loads their library when a chart is first shown. */
export function BarChart(props: BarsProps) {
  return (
    <Lazily skeleton={<Skeleton className="h-44 w-full" />}>
      <Bars {...props} />
    </Lazily>
  );
}
