import { usePageKeys } from '#ui/parts/page-keys.ts';

/** Handles the keys for results: `j` and `k` move the focus between results, other keys act on the focused result. */
export function useRowKeys(actions: Readonly<Record<string, (runId: string) => void>>): void {
  usePageKeys((key) => {
    const items = [...document.querySelectorAll<HTMLElement>('[data-run]')];
    const at = items.findIndex((item) => item.contains(document.activeElement));
    const move = (to: number) => items[to]?.querySelector('a')?.focus();
    if (key === 'j') move(at + 1);
    else if (key === 'k') move(Math.max(at - 1, 0));
    else {
      const runId = items[at]?.dataset['run'];
      const act = actions[key];
      if (runId === undefined || act === undefined) return false;
      // The row is about to disappear, so its neighbour takes the focus.
      if (key === 'e') move(at + 1 < items.length ? at + 1 : at - 1);
      act(runId);
    }
    return true;
  });
}
