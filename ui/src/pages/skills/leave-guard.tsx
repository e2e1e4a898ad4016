import { useBlocker } from '@tanstack/react-router';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';

/** Asks before a page with unsaved changes is left. */
export function LeaveGuard({ isDirty }: { readonly isDirty: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: () => isDirty,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title="Leave without saving?"
      description="What you changed in this skill is not saved."
      action="Leave page"
    />
  );
}
