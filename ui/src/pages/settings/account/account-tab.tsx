import { useState } from 'react';
import { Button } from '#ui/parts/button.tsx';
import { Section } from '#ui/parts/page.tsx';
import { DeleteAccountDialog } from '#ui/shell/delete-account.tsx';
import { Danger } from '../danger.tsx';
import { EmailForm } from './email-form.tsx';
import { NameForm } from './name-form.tsx';
import { PasswordForm } from './password-form.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';

/** Shows the settings of the person, whichever project is open. */
export function AccountTab() {
  return (
    <>
      <NameForm />
      <EmailForm />
      <PasswordForm />
      <SecondFactor />
      <Sessions />
      <DeleteAccount />
    </>
  );
}

function DeleteAccount() {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section title="Deletion">
      <Danger
        title="Delete your account"
        action={
          <Button className="text-bad-ink!" onClick={() => setAsking(true)}>
            Delete account
          </Button>
        }
      >
        Every session and membership ends, and the API keys that you made are revoked. Hand over or
        delete organizations of which you are the last owner first.
      </Danger>
      {isAsking && <DeleteAccountDialog onClose={() => setAsking(false)} />}
    </Section>
  );
}
