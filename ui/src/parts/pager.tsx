import type { LoadedList } from '#ui/api/read.ts';
import { Button } from './button.tsx';

/** Reads the next page of a list. */
export function Pager({ list }: { readonly list: LoadedList<unknown> }) {
  if (!list.hasMore) return null;
  return (
    <div className="flex justify-center py-4">
      <Button busy={list.isLoadingMore} onClick={list.loadMore}>
        Load more
      </Button>
    </div>
  );
}
