import { Dialog } from '@base-ui/react/dialog';
import { useQueryClient } from '@tanstack/react-query';
import { call } from '#ui/api/call.ts';
import { SESSION_KEY, type Session } from '#ui/api/session.ts';
import { useTitleBack } from '#ui/parts/page-title.ts';
import { SignIn } from './sign-in.tsx';

/**
 * Asks for the sign-in over a page whose session has ended. The page and its unsaved input are kept below, hidden until
 * the same person has signed in.
 */
export default function SignInAgain({ user }: Pick<Session, 'user'>) {
  const client = useQueryClient();
  useTitleBack();
  const goOn = async () => {
    const { data: session } = await call('get', '/auth/get-session', {});
    if (session?.user.id === user.id) {
      client.setQueryData(SESSION_KEY, session);
      await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
      // Load a new document for another person, because nothing of this page is theirs.
    } else location.assign('/');
  };
  return (
    <Dialog.Root open onOpenChange={(_open, details) => details.cancel()}>
      <Dialog.Portal>
        <Dialog.Popup
          aria-label="Sign in"
          className="fixed inset-0 z-60 overflow-y-auto bg-canvas outline-none"
          // Stop Escape here: it would close a dialog of the page below.
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.nativeEvent.stopImmediatePropagation();
          }}
        >
          <SignIn
            covers
            email={user.email}
            notice="Your session has ended. Sign in to continue where you were. Your input is still here."
            onSignedIn={goOn}
          />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
