import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { TextLink } from '#ui/parts/text-link.tsx';
import { SignInResult, type SignInReturn } from '#ui/shell/sign-in-result.tsx';

export interface ReturnedProps extends SignInReturn {
  readonly connections: readonly Shape<'Connection'>[] | undefined;
}

/** Shows how the sign-in of a connection ended, and the next step. */
export function Returned({ connected, error, requestId, connections }: ReturnedProps) {
  const projectId = useProjectId();
  if (connected === undefined && error === undefined) return null;
  const name = connections?.find(({ id }) => id === connected)?.name ?? 'The service';
  return (
    <SignInResult error={error} requestId={requestId}>
      <span>{name} is connected. Next: choose the tools that a routine may call.</span>
      {connected !== undefined && (
        <TextLink to="/p/$projectId/connections/$connectionId" params={{ projectId, connectionId: connected }}>
          Open it
        </TextLink>
      )}
    </SignInResult>
  );
}
