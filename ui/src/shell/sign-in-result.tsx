import type { ReactNode } from 'react';
import { Notice } from '#ui/parts/feedback.tsx';

/** The search parameters with which the browser comes back from a sign-in elsewhere. */
export interface SignInReturn {
  /** Id of the new connection. */
  readonly connected?: string | undefined;
  readonly error?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Shows the outcome of the sign-in from which the browser has just returned. */
export function SignInResult({
  error,
  requestId,
  children,
}: Omit<SignInReturn, 'connected'> & {
  /** The notice of success; shown when there is no error. */
  readonly children: ReactNode;
}) {
  if (error === undefined) {
    return (
      <div role="status" className="mb-6">
        <Notice>{children}</Notice>
      </div>
    );
  }
  return (
    <div role="alert" className="mb-6">
      <Notice tone="bad">
        <span>{errorText(error)}</span>
        {requestId !== undefined && (
          <span className="font-mono text-xs text-faint wrap-anywhere">Request {requestId}</span>
        )}
      </Notice>
    </div>
  );
}

const ERRORS: Readonly<Record<string, string>> = {
  attempt_expired: 'The sign-in took too long, or was used already. Begin again.',
  forbidden: 'The sign-in was begun in another session. Begin again in this session.',
  account_mismatch: 'You signed in with another account. Sign in with the account that was connected.',
  connection_not_found: 'The connection has been deleted meanwhile.',
  provider_disabled: 'The operator has switched this provider off.',
  provider_error: 'The provider refused the sign-in, or could not be reached. Try again.',
  owner_required: 'Only the owner of the account can sign in to it again.',
  runtime_unavailable: 'The account could not be checked just now. Try again in a few minutes.',
  api_unreachable: 'The service could not be reached when you came back. Begin again.',
};

/** Returns a sentence for the error code of a failed sign-in. */
function errorText(code: string): string {
  return ERRORS[code] ?? `The sign-in could not be completed (${code.replaceAll('_', ' ')}).`;
}
