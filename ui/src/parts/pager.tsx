import type { LoadedList } from '#ui/api/read.ts';
import { Button } from './button.tsx';

export interface PagerProps {
  readonly list: Pick<LoadedList<unknown>, 'hasMore' | 'isLoadingMore' | 'loadMore'>;
}

/** Reads the next page of a list. */
export function Pager({ list }: PagerProps) {
  if (!list.hasMore) return null;
  return (
    <div className="flex justify-center py-4">
      <Button busy={list.isLoadingMore} onClick={list.loadMore}>
        Load more
      </Button>
    </div>
  );
}
