import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { Notice } from '#ui/parts/feedback.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { returnedText } from './words.ts';

export interface ReturnedProps {
  /** The id of what has been connected. */
  readonly connected?: string | undefined;
  readonly error?: string | undefined;
  readonly requestId?: string | undefined;
  readonly connections: readonly Shape<'Connection'>[] | undefined;
}

/** Says how a sign-in ended from which the browser has just come back. */
export function Returned({ connected, error, requestId, connections }: ReturnedProps) {
  const projectId = useProjectId();
  if (error !== undefined) {
    return (
      <div role="alert" className="mb-6">
        <Notice tone="bad">
          <span>{returnedText(error)}</span>
          {requestId !== undefined && (
            <span className="font-mono text-xs text-faint wrap-anywhere">Request {requestId}</span>
          )}
        </Notice>
      </div>
    );
  }
  if (connected === undefined) return null;
  const name = connections?.find(({ id }) => id === connected)?.name ?? 'The service';
  return (
    <div role="status" className="mb-6">
      <Notice>
        <span>{name} is connected. Next: choose the tools that a routine may call.</span>
        <TextLink
          to="/p/$projectId/connections/$connectionId"
          params={{ projectId, connectionId: connected }}
        >
          Open it
        </TextLink>
      </Notice>
    </div>
  );
}
