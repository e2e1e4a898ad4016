import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '#ui/api/call.ts';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { sessionQuery } from '#ui/api/session.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { SkeletonText } from '#ui/parts/skeleton.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { useEnter } from '#ui/shell/after-sign-in.ts';
import { AuthFrame } from '#ui/shell/auth-frame.tsx';
import { dropInvitation, keepInvitation, readInvitation, useHashToken } from '#ui/shell/tokens.ts';

/** Shows the page to which the link of an invitation leads, with its token after the hash sign. */
export function InvitationsPage() {
  const given = useHashToken();
  const token = given === '' ? readInvitation() : given;
  useEffect(() => {
    if (given !== '') keepInvitation(given);
  }, [given]);
  const session = useQuery(sessionQuery());
  if (token === undefined) {
    return (
      <AuthFrame
        title="No invitation here"
        description="The link is incomplete. Open it again from the mail, or copy the whole link."
        footer={<TextLink to="/">Go to your routines</TextLink>}
      />
    );
  }
  if (session.data === undefined) {
    return (
      <AuthFrame title="Accept an invitation">
        <div aria-busy="true">
          <SkeletonText />
        </div>
      </AuthFrame>
    );
  }
  return session.data === null ? <FirstSignIn /> : <Accept token={token} email={session.data.user.email} />;
}

function FirstSignIn() {
  return (
    <AuthFrame
      title="You are invited"
      description="Sign in, or create an account, with the address to which the invitation was sent."
    >
      <div className="flex gap-2">
        <ButtonLink kind="primary" to="/sign-up" search={{ to: '/invitations' }}>
          Create an account
        </ButtonLink>
        <ButtonLink to="/sign-in" search={{ to: '/invitations' }}>
          Sign in
        </ButtonLink>
      </div>
    </AuthFrame>
  );
}

function Accept({ token, email }: { token: string; email: string }) {
  const enter = useEnter();
  const accept = useSend('post', '/v1/invitations/accept', {
    showsError: true,
    onDone: async ({ id }) => {
      dropInvitation();
      const { data: projects } = await call('get', '/v1/projects', {
        query: { organizationId: id, limit: 1 },
      });
      await enter(projects[0] === undefined ? '/' : `/p/${projects[0].id}`);
    },
  });
  const isUnknown = accept.error?.code === 'invitation_not_found';
  return (
    <AuthFrame
      title="You are invited"
      description={
        <>
          You are signed in as <span className="font-medium text-ink">{email}</span>. An invitation is for the address
          that it was sent to.
        </>
      }
      footer={<TextLink to="/">Not now</TextLink>}
    >
      <FormError
        message={
          isUnknown
            ? 'This invitation is for another address, has been used, or is older than seven days.'
            : errorInWords(accept.error)
        }
      />
      <Button kind="primary" busy={accept.isSending} onClick={() => accept.send({ body: { token } })}>
        Accept the invitation
      </Button>
    </AuthFrame>
  );
}
