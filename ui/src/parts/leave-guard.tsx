import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';

/** Asks before unsaved changes are lost, on navigation and on closing the tab. */
export function LeaveGuard({ isDirty }: { readonly isDirty: () => boolean }) {
  const blocker = useBlocker({
    // Do not ask when only the query changes, because the page loses nothing.
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isDirty(),
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title="Leave without saving?"
      description="What you changed here is not saved and would be lost."
      action="Leave without saving"
    />
  );
}
