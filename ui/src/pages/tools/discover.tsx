import { getRouteApi } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { errorInWords } from '#ui/api/form.ts';
import { useSend } from '#ui/api/send.ts';
import { useProjectId } from '#ui/api/project.ts';
import type { Shape } from '#ui/api/types.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { Select } from '#ui/parts/select.tsx';

const { useSearch, useNavigate } = getRouteApi('/account/p/$projectId/routines/$routineId/tools');

const ALL = 'all';

export interface DiscoverProps {
  readonly routineId: string;
  readonly connections: readonly Shape<'Connection'>[];
}

/** Asks a connection for its tools, and shows what was found. */
export function Discover({ routineId, connections }: DiscoverProps) {
  const projectId = useProjectId();
  const { connection: connectionId } = useSearch();
  const navigate = useNavigate();
  const discover = useSend('post', '/v1/routines/{routineId}/connections/{connectionId}/discover', {
    refreshes: ['/v1/routines', '/v1/connections'],
    showsError: true,
  });
  if (connections.length === 0) {
    return (
      <Notice className="mb-6">
        <span>Tools come from connections, and this project has none yet.</span>
        <ButtonLink size="sm" to="/p/$projectId/connections" params={{ projectId }}>
          Connect one
        </ButtonLink>
      </Notice>
    );
  }
  const target = connectionId ?? (connections.length === 1 ? connections[0]?.id : undefined);
  return (
    <div className="mb-6 flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <div className="w-full sm:w-72">
          <Select
            label="Connection"
            options={[
              { value: ALL, label: 'All connections' },
              ...connections.map(({ id, name }) => ({ value: id, label: name })),
            ]}
            value={connectionId ?? ALL}
            onChange={(value) => {
              discover.reset();
              void navigate({ search: value === ALL ? {} : { connection: value } });
            }}
          />
        </div>
        <Button
          icon={Search}
          busy={discover.isSending}
          disabledReason={target === undefined ? 'Choose a connection first.' : undefined}
          onClick={() => {
            if (target !== undefined) {
              discover.send({ path: { routineId, connectionId: target } });
            }
          }}
        >
          Find tools
        </Button>
      </div>
      <FormError message={errorInWords(discover.error)} />
      {discover.data !== undefined && <Found discovery={discover.data} />}
    </div>
  );
}

function Found({ discovery }: { readonly discovery: Shape<'Discovery'> }) {
  const { added, changed, vanished, unchanged, skippedTools, truncated } = discovery;
  const parts = [
    added > 0 && plural(added, 'new tool'),
    changed > 0 && `${changed} changed`,
    vanished > 0 && `${vanished} gone`,
    unchanged > 0 && `${unchanged} as before`,
  ].filter((part) => part !== false);
  return (
    <div role="status">
      <Notice tone={changed > 0 || vanished > 0 || truncated ? 'warn' : 'info'}>
        <span>
          {parts.length === 0 ? 'The server has no tools.' : `Found: ${parts.join(', ')}.`}
          {truncated && ' The server has more than can be looked at; the rest was left out.'}
        </span>
        {skippedTools.length > 0 && (
          <details className="w-full text-sm text-muted">
            <summary>{plural(discovery.skipped, 'tool')} left out</summary>
            <ul className="mt-1 list-disc pl-5">
              {skippedTools.map(({ name, reason }, index) => (
                <li key={index} className="wrap-anywhere">
                  <code className="font-mono text-xs">{drawn(name)}</code>: {reason}
                </li>
              ))}
            </ul>
          </details>
        )}
      </Notice>
    </div>
  );
}
