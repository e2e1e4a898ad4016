import { getRouteApi, Navigate } from '@tanstack/react-router';
import { ButtonLink } from '#ui/parts/button.tsx';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';

const route = getRouteApi('/verified');

/** Shows the page to which the link that confirms an e-mail address leads. */
export function VerifiedPage() {
  const { error, email } = route.useSearch();
  if (error === undefined && email !== undefined) {
    return <Navigate to="/sign-in" search={{ email, notice: 'address-confirmed', to: '/start' }} replace />;
  }
  if (error === undefined) {
    return (
      <AuthFrame title="Your address is confirmed" description="Sign in to continue.">
        <div>
          <ButtonLink kind="primary" to="/sign-in" search={{ to: '/start' }}>
            Sign in
          </ButtonLink>
        </div>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame
      title="This link is no longer valid"
      description="The link has been used, or is older than an hour. Sign in to have a new link mailed."
    >
      <div>
        <ButtonLink kind="primary" to="/sign-in">
          Sign in
        </ButtonLink>
      </div>
    </AuthFrame>
  );
}
