import { MailPlus, MailX, UserPlus } from 'lucide-react';
import { useState } from 'react';
import { useForm, useWatch } from 'react-hook-form';
import { useList, useRead } from '#ui/api/read.ts';
import { useSend } from '#ui/api/send.ts';
import { toast } from '#ui/api/toast.ts';
import { useVerb, verb } from '#ui/api/verbs/verb.ts';
import { Button } from '#ui/parts/button.tsx';
import { ShowOnce } from '#ui/parts/copy.tsx';
import { Await, EmptyState } from '#ui/parts/feedback.tsx';
import { Field } from '#ui/parts/field.tsx';
import { FormDialog } from '#ui/parts/form-dialog.tsx';
import { Input } from '#ui/parts/input.tsx';
import { Menu } from '#ui/parts/menu.tsx';
import { Section } from '#ui/parts/page.tsx';
import { Pager } from '#ui/parts/pager.tsx';
import { SkeletonRows } from '#ui/parts/skeleton.tsx';
import { DataTable, type Column } from '#ui/parts/table.tsx';
import { Time } from '#ui/parts/time.tsx';
import { RadioCards } from '#ui/parts/toggles.tsx';
import { itemOf } from '#ui/parts/verb-button.tsx';
import type { Organization } from '../of-organization.tsx';
import { roleName, ROLES, type Invitation, type NewInvitation } from './roles.ts';

const COLUMNS: readonly Column<Invitation>[] = [
  {
    key: 'email',
    header: 'E-mail address',
    cell: ({ email }) => <span className="font-medium wrap-anywhere">{email}</span>,
  },
  { key: 'role', header: 'Role', width: 'w-28', cell: ({ role }) => roleName(role) },
  {
    key: 'sent',
    header: 'Invited',
    width: 'w-36',
    from: 'md',
    cell: ({ createdAt }) => <Time at={createdAt} as="relative" />,
  },
  {
    key: 'expires',
    header: 'Holds until',
    width: 'w-44',
    cell: ({ expiresAt }) => <Time at={expiresAt} />,
  },
];

const TAKE_BACK = verb<{ organizationId: string; invitation: Invitation }>()(
  'delete',
  '/v1/organizations/{organizationId}/invitations/{invitationId}',
  {
    label: 'Take back',
    icon: MailX,
    danger: true,
    question: ({ invitation: { email } }) => ({
      title: 'Take the invitation back?',
      description: `The link that ${email} got will no longer work.`,
      action: 'Take back',
    }),
    input: ({ organizationId, invitation: { id } }) => ({ path: { organizationId, invitationId: id } }),
    changes: ['/v1/organizations'],
    done: 'Invitation taken back',
  },
);

export function Invitations({ organization }: { readonly organization: Organization }) {
  const path = { organizationId: organization.id };
  const address = '/v1/organizations/{organizationId}/invitations';
  const invitations = useList(address, { path });
  const config = useRead('/public/config', {}, { staleMs: 600_000 });
  const [isInviting, setInviting] = useState(false);
  const [shown, setShown] = useState<NewInvitation>();
  /** Shows the link of an invitation that no mail carries. */
  const invited = (invitation: NewInvitation) => {
    if (config.data?.verifiesAddresses === true) toast.done(`Invitation sent to ${invitation.email}`);
    else setShown(invitation);
  };
  const again = useSend('post', address, {
    refreshes: ['/v1/organizations'],
    onDone: invited,
  });
  const takeBack = useVerb(TAKE_BACK);
  const invite = (
    <Button kind="primary" size="sm" icon={UserPlus} onClick={() => setInviting(true)}>
      Invite a person
    </Button>
  );
  const resend = ({ email }: Invitation, role: Invitation['role']) => again.send({ path, body: { email, role } });
  return (
    <Section title="Invitations" description="An invitation is for seven days and one address." actions={invite}>
      <Await of={invitations} skeleton={<SkeletonRows rows={2} />} errorTitle="The invitations could not be read">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon={MailPlus} title="No open invitations">
              A person who accepts an invitation sees all projects of the organization.
            </EmptyState>
          ) : (
            <>
              <DataTable
                label="Invitations"
                columns={COLUMNS}
                rows={rows}
                keyOf={({ id }) => id}
                actionsWidth="w-12"
                actions={(row) => (
                  <Menu
                    label={`Invitation of ${row.email}`}
                    groups={[
                      [
                        { label: 'Send again', onSelect: () => resend(row, row.role) },
                        row.role === 'member'
                          ? {
                              label: 'Invite as admin instead',
                              onSelect: () => resend(row, 'admin'),
                            }
                          : {
                              label: 'Invite as member instead',
                              onSelect: () => resend(row, 'member'),
                            },
                      ],
                      [itemOf(takeBack, { ...path, invitation: row })],
                    ]}
                  />
                )}
              />
              <Pager list={invitations} />
            </>
          )
        }
      </Await>
      <InviteDialog
        open={isInviting}
        onClose={() => setInviting(false)}
        organizationId={organization.id}
        onInvited={invited}
      />
      <InvitationLink invitation={shown} onClose={() => setShown(undefined)} />
    </Section>
  );
}

interface InvitationLinkProps {
  /** The invitation whose link is shown; undefined while none is. */
  readonly invitation: NewInvitation | undefined;
  readonly onClose: () => void;
}

/** Shows the link of an invitation once, if no mail server sends it. */
function InvitationLink({ invitation, onClose }: InvitationLinkProps) {
  const token = invitation?.token ?? '';
  return (
    <ShowOnce
      open={invitation !== undefined}
      onClose={onClose}
      title="Hand over this link"
      description={`This service sends no mail. Give the link to ${invitation?.email ?? 'them'} yourself: the link cannot be shown again, and works for that address only.`}
      secret={`${location.origin}/invitations#${token}`}
      secretLabel="link of the invitation"
    />
  );
}

interface InviteProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly organizationId: string;
  readonly onInvited: (invitation: NewInvitation) => void;
}

const NEW: { email: string; role: NewInvitation['role'] } = { email: '', role: 'member' };

const OPTIONS = ROLES.flatMap(({ value, label, hint }) =>
  value === 'owner' ? [] : [{ value, label, description: hint }],
).toReversed();

function InviteDialog({ open, onClose, organizationId, onInvited }: InviteProps) {
  const form = useForm({ defaultValues: NEW });
  const { errors } = form.formState;
  const invite = useSend('post', '/v1/organizations/{organizationId}/invitations', {
    refreshes: ['/v1/organizations'],
    showsError: true,
  });
  const close = () => {
    form.reset();
    onClose();
  };
  const submit = async (body: typeof NEW) => {
    const made = await invite.sendAsync({ path: { organizationId }, body });
    close();
    onInvited(made);
  };
  return (
    <FormDialog
      open={open}
      onClose={close}
      title="Invite a person"
      description="The invitation replaces an earlier one to the same address."
      form={form}
      onSubmit={submit}
      action="Invite"
    >
      <Field label="E-mail address" error={errors.email?.message}>
        <Input {...form.register('email')} inputMode="email" autoComplete="off" placeholder="grace@example.com" />
      </Field>
      <RadioCards
        label="Role"
        options={OPTIONS}
        value={useWatch({ control: form.control, name: 'role' })}
        onChange={(role) => form.setValue('role', role)}
      />
    </FormDialog>
  );
}
