import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';

/** Returns the address to which the link in the mail leads. */
export function confirmedAddress(): string {
  return `${location.origin}/verified`;
}

/** Says that the address waits to be confirmed, and mails the link again. */
export function ResendMail({ email }: { readonly email: string }) {
  const resend = useSend('post', '/auth/send-verification-email', {
    done: 'A new link is on its way',
  });
  return (
    <Notice tone="warn">
      <span className="grow">
        Confirm your address first: open the link in the mail that we have sent to {email}.
      </span>
      <Button
        size="sm"
        busy={resend.isSending}
        onClick={() => resend.send({ body: { email, callbackURL: confirmedAddress() } })}
      >
        Mail it again
      </Button>
    </Notice>
  );
}
