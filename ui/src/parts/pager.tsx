import type { LoadedList } from '#ui/api/hooks.ts';
import { Button } from './button.tsx';

/** Goes on with a list where its last page ended. */
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
