import { getRouteApi } from '@tanstack/react-router';
import { TextLink } from '#ui/parts/text-link.tsx';
import { useEnter } from '#ui/shell/after-sign-in.ts';
import { SignIn } from '#ui/shell/sign-in.tsx';

const route = getRouteApi('/sign-in');

const NOTICES: Readonly<Record<string, string>> = {
  'password-changed': 'Your password is changed. Every other session has ended; sign in with the new one.',
  'address-confirmed': 'Your address is confirmed. Sign in to continue.',
};

export function SignInPage() {
  const { to, email, notice } = route.useSearch();
  const enter = useEnter();
  return (
    <SignIn
      email={email}
      notice={notice === undefined ? undefined : NOTICES[notice]}
      footer={
        <>
          New here?{' '}
          <TextLink to="/sign-up" search={{ to }}>
            Create an account
          </TextLink>
        </>
      }
      onSignedIn={() => enter(to)}
    />
  );
}
