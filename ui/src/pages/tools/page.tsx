import { getRouteApi } from '@tanstack/react-router';
import { PowerOff, Search, Wrench } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useProjectId } from '#ui/api/project.ts';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { useVerb, verb } from '#ui/api/verbs/verb.ts';
import { drawn } from '#ui/format/drawn.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button, ButtonLink } from '#ui/parts/button.tsx';
import { Await, EmptyState, Notice } from '#ui/parts/feedback.tsx';
import { FormError } from '#ui/parts/field.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { ConfirmTool } from './confirm-tool.tsx';
import { Rules } from './rules.tsx';
import { ToolGroups } from './tool-groups.tsx';

const { useNavigate, useParams, useSearch } = getRouteApi('/account/p/$projectId/routines/$routineId/tools');

type Policy = Shape<'ToolPolicy'>;

/** Lets a person choose which tools the runs of a routine may call, and which calls wait for approval. */
export function ToolsPage() {
  const { projectId, routineId } = useParams();
  const { connection: connectionId } = useSearch();
  const routine = useRead('/v1/routines/{routineId}', { path: { routineId } });
  const connections = useList('/v1/connections', { query: { limit: 200 } });
  const policies = useList('/v1/routines/{routineId}/tools', {
    path: { routineId },
    query: { limit: 200 },
  });
  const [confirming, setConfirming] = useState<Policy>();
  const disable = useVerb(DISABLE);
  const connectionOf = (policy: Policy) => connections.data?.find(({ id }) => id === policy.connectionId);
  return (
    <>
      <PageHeader
        title="Tools"
        documentTitle={routine.data === undefined ? 'Tools' : `Tools of ${routine.data.name}`}
        badge={routine.data !== undefined && <StateBadge state={routine.data.state} />}
        description="The tools that runs of this routine may call, by themselves or once a person approves the call. After every change the routine is a draft again, and has to be tested and activated again."
        back={{
          label: routine.data?.name ?? 'Routine',
          link: { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } },
        }}
      />
      <Await of={connections} skeleton={<SkeletonRows rows={1} />} errorTitle="The connections could not be read">
        {(rows) => <Discover connections={rows} routineId={routineId} />}
      </Await>
      <Await of={policies} skeleton={<SkeletonRows rows={6} />} errorTitle="The tools could not be read">
        {(all) => {
          const rows = all.filter((policy) => connectionId === undefined || policy.connectionId === connectionId);
          return rows.length === 0 ? (
            <EmptyState icon={Wrench} title="No tools found yet">
              Ask a connection for its tools. Runs can call a tool only after you have confirmed it.
            </EmptyState>
          ) : (
            <>
              <ToolGroups
                policies={rows}
                connectionOf={connectionOf}
                onConfirm={setConfirming}
                onDisable={disable.act}
              />
              <Rules policies={rows} />
            </>
          );
        }}
      </Await>
      <Pager list={policies} />
      {confirming !== undefined && (
        <ConfirmTool
          // Pass the latest policy, because it may change while the dialog is open.
          policy={policies.data?.find(({ id }) => id === confirming.id) ?? confirming}
          connection={connectionOf(confirming)}
          routineName={routine.data?.name ?? 'this routine'}
          onReload={policies.refetch}
          onClose={() => setConfirming(undefined)}
        />
      )}
    </>
  );
}

/** Takes a tool from a routine. The routine then returns to draft. */
const DISABLE = verb<Shape<'ToolPolicy'>>()('patch', '/v1/routines/{routineId}/tools/{policyId}', {
  label: 'Disable',
  icon: PowerOff,
  question: ({ name }) => ({
    title: `Disable ${name}?`,
    description:
      'Runs of this routine can no longer call this tool, from their next call on. The routine goes back to draft.',
    action: 'Disable tool',
  }),
  input: ({ routineId, id }) => ({ path: { routineId, policyId: id }, body: { state: 'disabled' as const } }),
  changes: ['/v1/routines'],
  done: 'Tool disabled',
});

const ALL = 'all';

interface DiscoverProps {
  readonly routineId: string;
  readonly connections: readonly Shape<'Connection'>[];
}

/** Discovers the tools of a connection, and shows the differences. */
function Discover({ routineId, connections }: DiscoverProps) {
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
  const { added, changed, vanished, unchanged, skippedTools, droppedFields, truncated, circular } = discovery;
  const parts = [
    added > 0 && plural(added, 'new tool'),
    changed > 0 && `${changed} changed`,
    vanished > 0 && `${vanished} gone`,
    unchanged > 0 && `${unchanged} as before`,
  ].filter((part) => part !== false);
  return (
    <div role="status">
      <Notice tone={changed > 0 || vanished > 0 || truncated || circular ? 'warn' : 'info'}>
        <span>
          {parts.length === 0 ? 'The server has no tools.' : `Found: ${parts.join(', ')}.`}
          {truncated && ' The server has more tools than can be read; the rest was left out.'}
          {circular && ' The list of the server starts over at its beginning, so some tools may be missing here.'}
        </span>
        <LeftOut heading={`${plural(discovery.skipped, 'tool')} left out`} tools={skippedTools} />
        <LeftOut heading={`${plural(droppedFields.length, 'field')} left out`} tools={droppedFields} />
      </Notice>
    </div>
  );
}

function LeftOut({ heading, tools }: { readonly heading: string; readonly tools: readonly Shape<'SkippedTool'>[] }) {
  if (tools.length === 0) return null;
  return (
    <details className="w-full text-sm text-muted">
      <summary>{heading}</summary>
      <ul className="mt-1 list-disc pl-5">
        {tools.map(({ name, field, reason }, index) => (
          <li key={index} className="wrap-anywhere">
            <code className="font-mono text-xs">{drawn(field === null ? name : `${name}: ${field}`)}</code>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
