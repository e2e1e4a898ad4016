import { getRouteApi } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import { useState } from 'react';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import type { Shape } from '#ui/api/types.ts';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { PageHeader } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { StateBadge } from '#ui/parts/state.tsx';
import { ConfirmTool } from './confirm-tool.tsx';
import { Discover } from './discover.tsx';
import { ToolGroups } from './tool-groups.tsx';

const { useParams, useSearch } = getRouteApi('/account/p/$projectId/routines/$routineId/tools');

type Policy = Shape<'ToolPolicy'>;

/** Lets a person choose which tools the runs of a routine may call without asking. */
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
  const [disabling, setDisabling] = useState<Policy>();
  const connectionOf = (policy: Policy) =>
    connections.data?.find(({ id }) => id === policy.connectionId);
  return (
    <>
      <PageHeader
        title="Tools"
        documentTitle={routine.data === undefined ? 'Tools' : `Tools of ${routine.data.name}`}
        badge={routine.data !== undefined && <StateBadge state={routine.data.state} />}
        description="What runs of this routine may call without asking anybody. Every change returns the routine to draft, to be run and activated again."
        back={{
          label: routine.data?.name ?? 'Routine',
          link: { to: '/p/$projectId/routines/$routineId', params: { projectId, routineId } },
        }}
      />
      <Await
        of={connections}
        skeleton={<SkeletonRows rows={1} />}
        errorTitle="The connections could not be read"
      >
        {(rows) => <Discover connections={rows} routineId={routineId} />}
      </Await>
      <Await
        of={policies}
        skeleton={<SkeletonRows rows={6} />}
        errorTitle="The tools could not be read"
      >
        {(all) => {
          const rows = all.filter(
            (policy) => connectionId === undefined || policy.connectionId === connectionId,
          );
          return rows.length === 0 ? (
            <EmptyState icon={Wrench} title="No tools found yet">
              Ask a connection for its tools. Nothing is callable before you confirm it, tool by
              tool.
            </EmptyState>
          ) : (
            <ToolGroups
              policies={rows}
              connectionOf={connectionOf}
              onConfirm={setConfirming}
              onDisable={setDisabling}
            />
          );
        }}
      </Await>
      <Pager list={policies} />
      {confirming !== undefined && (
        <ConfirmTool
          // The latest that is known of it: it may change while the dialog is open.
          policy={policies.data?.find(({ id }) => id === confirming.id) ?? confirming}
          connection={connectionOf(confirming)}
          routineName={routine.data?.name ?? 'this routine'}
          onReload={policies.refetch}
          onClose={() => setConfirming(undefined)}
        />
      )}
      <DisableTool policy={disabling} onClose={() => setDisabling(undefined)} />
    </>
  );
}

/** Asks before a tool is taken from a routine, as that returns the routine to draft. */
function DisableTool({
  policy,
  onClose,
}: {
  readonly policy: Shape<'ToolPolicy'> | undefined;
  readonly onClose: () => void;
}) {
  const disable = useSend('patch', '/v1/routines/{routineId}/tools/{policyId}', {
    refreshes: ['/v1/routines'],
    done: 'Tool disabled',
    onDone: onClose,
  });
  return (
    <ConfirmDialog
      open={policy !== undefined}
      onClose={onClose}
      title={`Disable ${policy?.name ?? 'tool'}?`}
      description="Runs of this routine cannot call it any more, from their next call on. The routine goes back to draft."
      action="Disable tool"
      busy={disable.isSending}
      onConfirm={() => {
        if (policy === undefined) return;
        const { routineId, id } = policy;
        disable.send({ path: { routineId, policyId: id }, body: { state: 'disabled' } });
      }}
    />
  );
}
