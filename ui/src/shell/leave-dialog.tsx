import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { leaveFor } from './last-project.ts';

/** The address of a sign-in that has begun. */
export interface SignInPage {
  readonly authorizationUrl: string;
  readonly host: string;
}

/** Names the host of a sign-in before the browser leaves for it, because a tool server may name any host. */
export function LeaveDialog({
  page: { authorizationUrl, host },
  onClose,
}: {
  readonly page: SignInPage;
  readonly onClose: () => void;
}) {
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      kind="primary"
      title={`Sign in at ${host}?`}
      description={
        <>
          You go to <strong className="font-medium text-ink">{host}</strong> and come back here. Go on only if you trust
          that address: its owner sees what you type there.
        </>
      }
      action="Continue"
      onConfirm={() => leaveFor(authorizationUrl)}
    />
  );
}
