import { Skeleton } from '#ui/parts/skeleton.tsx';

/** A week to come. */
export function CalendarSkeleton() {
  return (
    <div className="grid gap-px overflow-hidden rounded-lg border border-line bg-line lg:grid-cols-7">
      {Array.from({ length: 7 }, (_, index) => (
        <div key={index} className="flex min-h-20 flex-col gap-3 bg-surface p-3 lg:min-h-96">
          <Skeleton className="w-16" />
          <Skeleton className="max-w-28" />
          {index % 2 === 0 && <Skeleton className="max-w-24" />}
        </div>
      ))}
    </div>
  );
}
