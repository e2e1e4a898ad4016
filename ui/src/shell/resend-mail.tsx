import type { ReactNode } from 'react';
import { useSend } from '#ui/api/send.ts';
import { Button } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';

/** Returns the URL that the link in the mail opens: the sign-in page, with the person's mail address filled in. */
export function confirmedAddress(email: string): string {
  return `${location.origin}/verified?${new URLSearchParams({ email }).toString()}`;
}

export interface ResendMailProps {
  readonly email: string;
  readonly tone: 'info' | 'warn';
  /** Reason why a person may want another link. */
  readonly children: ReactNode;
}

/** Sends another mail with the link that confirms an address. */
export function ResendMail({ email, tone, children }: ResendMailProps) {
  const resend = useSend('post', '/auth/send-verification-email', {
    done: 'A new link has been sent',
  });
  return (
    <Notice tone={tone}>
      <span className="grow">{children}</span>
      <Button
        size="sm"
        busy={resend.isSending}
        onClick={() => resend.send({ body: { email, callbackURL: confirmedAddress(email) } })}
      >
        Mail it again
      </Button>
    </Notice>
  );
}
