import { DeleteAccount } from './delete-account.tsx';
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
