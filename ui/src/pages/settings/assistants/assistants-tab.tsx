import { Bot, Unplug } from 'lucide-react';
import { useProjectId } from '#ui/api/project.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import type { Shape } from '#ui/api/types.ts';
import { useVerb, verb } from '#ui/api/verbs/verb.ts';
import { Button } from '#ui/parts/button.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { SkeletonRows, SkeletonText } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { TextLink } from '#ui/parts/text-link.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Switch } from '#ui/parts/toggles.tsx';
import { levelName } from '#ui/shell/access/levels.ts';
import { mayChange, OfOrganization } from '../of-organization.tsx';

type Assistant = Shape<'Assistant'>;

/** Shows the assistants that reach the project, and whether programs may use it through MCP. */
export function AssistantsTab() {
  const projectId = useProjectId();
  return (
    <OfOrganization>
      {(organization) => (
        <>
          <Section title="MCP" description="How assistants and other programs use this project.">
            <McpSwitch mayChange={mayChange(organization)} />
          </Section>
          <Section
            title="Connected assistants"
            description={
              <>
                Each assistant acts for the person who connected it. Terminals that are signed in have a key among the{' '}
                <TextLink to="/p/$projectId/api-keys" params={{ projectId }}>
                  API keys
                </TextLink>
                .
              </>
            }
          >
            <Assistants mayRevokeAll={mayChange(organization)} />
          </Section>
        </>
      )}
    </OfOrganization>
  );
}

function McpSwitch({ mayChange }: { readonly mayChange: boolean }) {
  const path = { projectId: useProjectId() };
  const project = useRead('/v1/projects/{projectId}', { path });
  const save = useSend('patch', '/v1/projects/{projectId}', {
    refreshes: ['/v1/projects'],
    done: ({ mcpEnabled }) => (mcpEnabled ? 'MCP is on' : 'MCP is off'),
  });
  return (
    <Await of={project} skeleton={<SkeletonText lines={2} />} errorTitle="The project could not be read">
      {({ mcpEnabled }) => (
        <Switch
          label="Let programs reach this project through MCP"
          description={
            mayChange
              ? 'If this is off, no program has access through MCP. The API still works.'
              : 'Only owners and admins can switch MCP on or off.'
          }
          checked={save.sent?.body.mcpEnabled ?? mcpEnabled}
          disabled={!mayChange || save.isSending}
          onChange={(on) => save.send({ path, body: { mcpEnabled: on } })}
        />
      )}
    </Await>
  );
}

function Assistants({ mayRevokeAll }: { readonly mayRevokeAll: boolean }) {
  const { user } = useSession();
  const assistants = useRead('/v1/assistants', {}, { everyMs: 30_000 });
  const revoke = useVerb(REVOKE);
  const mayRevoke = ({ grantedBy }: Assistant) => mayRevokeAll || grantedBy.id === user.id;
  return (
    <>
      <Await of={assistants} skeleton={<SkeletonRows rows={2} />} errorTitle="The assistants could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={Bot} title="No assistants connected">
              Add this service to an assistant as an MCP server. The assistant then leads you here to connect.
            </EmptyState>
          ) : (
            <DataTable
              label="Connected assistants"
              columns={COLUMNS}
              rows={rows}
              keyOf={({ id }) => id}
              actionsWidth="w-24"
              actions={(row) =>
                mayRevoke(row) && (
                  <Button kind="quiet" size="sm" onClick={() => revoke.act(row)}>
                    Revoke
                    <span className="sr-only">
                      {' '}
                      {row.clientName} of {row.grantedBy.name}
                    </span>
                  </Button>
                )
              }
            />
          )
        }
      </Await>
    </>
  );
}

const COLUMNS: readonly Column<Assistant>[] = [
  {
    key: 'name',
    header: 'Assistant',
    cell: ({ clientName, isVerified }) => (
      <span className="flex items-center gap-2">
        <span className="truncate font-medium">{clientName}</span>
        {!isVerified && <Badge tone="warn">Unverified</Badge>}
      </span>
    ),
  },
  {
    key: 'access',
    header: 'Access',
    width: 'w-24',
    cell: ({ scopes }) => (
      <span title={scopes.join(', ')}>
        {levelName(scopes)}
        <span className="sr-only">: {scopes.join(', ')}</span>
      </span>
    ),
  },
  { key: 'by', header: 'Acts for', width: 'w-40', cell: ({ grantedBy }) => grantedBy.name },
  {
    key: 'since',
    header: 'Since',
    width: 'w-32',
    from: 'md',
    cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
  },
  {
    key: 'used',
    header: 'Last used',
    width: 'w-32',
    cell: ({ lastUsedAt }) =>
      lastUsedAt === null ? <span className="text-faint">Never</span> : <Time at={lastUsedAt} as="relative" />,
  },
];

const REVOKE = verb<Assistant>()('delete', '/v1/assistants/{assistantId}', {
  label: 'Revoke',
  icon: Unplug,
  question: ({ clientName }) => ({
    title: `Revoke ${clientName ?? 'access'}?`,
    description:
      'From its next request on, the assistant is refused. To use it again, connect it again from the assistant.',
    action: 'Revoke access',
  }),
  input: ({ id }) => ({ path: { assistantId: id } }),
  changes: ['/v1/assistants'],
  done: 'Access revoked',
});
