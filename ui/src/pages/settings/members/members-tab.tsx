import { ArrowRightLeft } from 'lucide-react';
import { useState } from 'react';
import { errorInWords } from '#ui/api/form.ts';
import { useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { useSession } from '#ui/api/session.ts';
import { plural } from '#ui/format/numbers.ts';
import { Button } from '#ui/parts/button.tsx';
import { ConfirmDialog } from '#ui/parts/dialog.tsx';
import { Await } from '#ui/parts/feedback.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Select } from '#ui/parts/select.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { Badge } from '#ui/parts/state.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { Checkbox } from '#ui/parts/toggles.tsx';
import { mayChange, OfOrganization, type Organization } from '../of-organization.tsx';
import { HandOverDialog } from './hand-over.tsx';
import { Invitations } from './invitations.tsx';
import { RemoveDialog } from './remove-dialog.tsx';
import { roleName, ROLES, type Member } from './roles.ts';

/** Lists the people of the organization, and those who are invited. */
export function MembersTab() {
  return (
    <OfOrganization>
      {(organization) => (
        <>
          <Members organization={organization} />
          {mayChange(organization) && <Invitations organization={organization} />}
        </>
      )}
    </OfOrganization>
  );
}

function Members({ organization }: { readonly organization: Organization }) {
  const path = { organizationId: organization.id };
  const members = useRead('/v1/organizations/{organizationId}/members', { path });
  const { user } = useSession();
  const [removed, setRemoved] = useState<Member>();
  const [signedOut, setSignedOut] = useState<Member>();
  const [isHandingOver, setHandingOver] = useState(false);
  const others = (members.data ?? []).filter(({ userId }) => userId !== user.id);
  return (
    <Section
      title="Members"
      {...(members.data && { description: `${plural(members.data.length, 'person', 'people')}.` })}
      actions={
        organization.role === 'owner' &&
        others.length > 0 && (
          <Button size="sm" icon={ArrowRightLeft} onClick={() => setHandingOver(true)}>
            Hand over ownership
          </Button>
        )
      }
    >
      <Await of={members} skeleton={<SkeletonRows rows={3} />} errorTitle="The members could not be read">
        {(rows) => (
          <DataTable
            label="Members"
            columns={columnsFor(organization, user.id)}
            rows={rows}
            keyOf={({ userId }) => userId}
            actionsWidth="w-42"
            actions={(member) => (
              <MemberAction
                member={member}
                organization={organization}
                isSelf={member.userId === user.id}
                onRemove={() => setRemoved(member)}
                onEndSessions={() => setSignedOut(member)}
              />
            )}
          />
        )}
      </Await>
      <RemoveDialog member={removed} organization={organization} onClose={() => setRemoved(undefined)} />
      <EndSessionsDialog member={signedOut} organization={organization} onClose={() => setSignedOut(undefined)} />
      <HandOverDialog
        open={isHandingOver}
        onClose={() => setHandingOver(false)}
        organizationId={organization.id}
        members={others}
      />
    </Section>
  );
}

function columnsFor(organization: Organization, ownId: string): readonly Column<Member>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name, userId }) => (
        <span className="flex items-center gap-2">
          <span className="truncate font-medium">{name}</span>
          {userId === ownId && <Badge>You</Badge>}
        </span>
      ),
    },
    {
      key: 'email',
      header: 'E-mail address',
      width: 'w-60',
      bare: true,
      cell: ({ email }) => <span className="wrap-anywhere">{email}</span>,
    },
    {
      key: 'joined',
      header: 'Joined',
      width: 'w-32',
      from: 'lg',
      cell: ({ joinedAt }) => <Time at={joinedAt} as="relative" />,
    },
    {
      key: 'role',
      header: 'Role',
      width: 'w-36',
      cell: (member) => <RoleCell member={member} organization={organization} />,
    },
  ];
}

function RoleCell({ member, organization }: { readonly member: Member; readonly organization: Organization }) {
  const isOwner = organization.role === 'owner';
  const change = useSend('patch', '/v1/organizations/{organizationId}/members/{userId}', {
    refreshes: ['/v1/organizations'],
    done: ({ name, role, revokedKeys }) =>
      [
        `${name} is now ${role === 'member' ? 'a member' : `an ${role}`}`,
        ...(revokedKeys.length === 0 ? [] : [`keys revoked: ${revokedKeys.map((key) => key.name).join(', ')}`]),
      ].join('; '),
  });
  // Offer no other role unless the person may change it: only an owner may give or take ownership.
  if (!mayChange(organization) || (member.role === 'owner' && !isOwner)) {
    return roleName(member.role);
  }
  return (
    <Select
      label={`Role of ${member.name}`}
      className="min-w-28"
      compact
      disabled={change.isSending}
      options={ROLES.map((role) => ({ ...role, disabled: role.value === 'owner' && !isOwner }))}
      value={member.role}
      onChange={(role) => {
        if (role === member.role) return;
        const path = { organizationId: organization.id, userId: member.userId };
        change.send({ path, body: { role } });
      }}
    />
  );
}

function MemberAction({
  member,
  organization,
  isSelf,
  onRemove,
  onEndSessions,
}: {
  readonly member: Member;
  readonly organization: Organization;
  readonly isSelf: boolean;
  readonly onRemove: () => void;
  readonly onEndSessions: () => void;
}) {
  const mayRemove =
    isSelf || organization.role === 'owner' || (organization.role === 'admin' && member.role !== 'owner');
  if (!mayRemove) return null;
  return (
    <span className="flex gap-1">
      {!isSelf && (
        <Button kind="quiet" size="sm" onClick={onEndSessions}>
          Sign out<span className="sr-only"> {member.name}</span>
        </Button>
      )}
      <Button kind="quiet" size="sm" onClick={onRemove}>
        {isSelf ? 'Leave' : 'Remove'}
        <span className="sr-only"> {isSelf ? organization.name : member.name}</span>
      </Button>
    </span>
  );
}

interface EndSessionsDialogProps {
  readonly member: Member | undefined;
  readonly organization: Organization;
  readonly onClose: () => void;
}

/** Asks before a member's sessions in an organization are ended, and whether the member's programs lose access too. */
function EndSessionsDialog({ member, organization, onClose }: EndSessionsDialogProps) {
  const end = useSend('delete', '/v1/organizations/{organizationId}/members/{userId}/sessions', {
    done: ({ ended, revokedKeys, disconnectedAssistants }) =>
      endsPrograms
        ? `${plural(ended, 'session')}, ${plural(revokedKeys.length, 'API key')} and ${plural(disconnectedAssistants, 'assistant')} ended`
        : `${plural(ended, 'session')} ended`,
    showsError: true,
    onDone: onClose,
  });
  const [endsPrograms, setEndsPrograms] = useState(false);
  return (
    <ConfirmDialog
      open={member !== undefined}
      onClose={() => {
        end.reset();
        onClose();
      }}
      title={`Sign ${member?.name ?? 'the member'} out?`}
      description={`With the next request, each session of this member asks for a sign-in before it does anything in ${organization.name}. In other organizations the member stays signed in.`}
      action="End sessions"
      busy={end.isSending}
      error={errorInWords(end.error)}
      onConfirm={() => {
        if (member === undefined) return;
        end.send({
          path: { organizationId: organization.id, userId: member.userId },
          query: { endPrograms: endsPrograms ? 'true' : 'false' },
        });
      }}
    >
      <Checkbox
        label="Also end the access of this member’s programs here"
        description="Revokes the API keys that this member made, including those of terminals, and disconnects the member’s assistants."
        checked={endsPrograms}
        onChange={setEndsPrograms}
      />
    </ConfirmDialog>
  );
}
