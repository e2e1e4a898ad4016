import { Box } from '#ui/parts/page.tsx';
import { Skeleton, SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';

/** Shows a run that loads. */
export function RunSkeleton() {
  return (
    <div className="grid grid-cols-1 gap-x-10 gap-y-8 lg:grid-cols-[minmax(0,1fr)_16rem]">
      <div className="flex flex-col gap-8">
        <Box>
          <Skeleton className="mb-3 h-5 w-32" />
          <Skeleton className="w-3/4" />
        </Box>
        <Box>
          <SkeletonText lines={5} />
        </Box>
        <SkeletonRows rows={4} />
      </div>
      <div className="flex flex-col gap-3.5">
        {['w-40', 'w-32', 'w-24', 'w-44', 'w-16', 'w-28'].map((width) => (
          <Skeleton key={width} className={width} />
        ))}
      </div>
    </div>
  );
}
