import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Checkbox } from './toggles.tsx';

export type Mail = Shape<'MailSettings'>;

/** Who can be mailed. */
export const RECIPIENTS = [
  { value: 'owners', label: 'Owners' },
  { value: 'admins', label: 'Owners and admins' },
  { value: 'members', label: 'All members' },
  { value: 'people', label: 'Chosen people' },
] as const;

/** Chooses or drops an event that is mailed. */
export function withEvent(mail: Mail, event: Mail['on'][number], on: boolean): Mail {
  return { ...mail, on: on ? [...mail.on, event] : mail.on.filter((each) => each !== event) };
}

/** Returns the recipients as they are chosen from the list. */
export function recipientsOf({ to }: Mail): (typeof RECIPIENTS)[number]['value'] {
  return typeof to === 'string' ? to : 'people';
}

/** Mails other recipients; chosen people begin with none. */
export function withRecipients(mail: Mail, next: (typeof RECIPIENTS)[number]['value']): Mail {
  return { ...mail, to: next === 'people' ? [] : next };
}

export interface PeopleProps {
  readonly organizationId: string | undefined;
  readonly chosen: readonly string[];
  readonly disabled?: boolean;
  readonly onChange: (chosen: string[]) => void;
}

/** Chooses people of the organization, a box each. */
export function People({ organizationId, chosen, disabled = false, onChange }: PeopleProps) {
  const members = useRead(
    '/v1/organizations/{organizationId}/members',
    { path: { organizationId: organizationId ?? '' } },
    { enabled: organizationId !== undefined },
  );
  return members.data?.map(({ userId, name, email }) => (
    <Checkbox
      key={userId}
      label={name}
      description={email}
      checked={chosen.includes(userId)}
      disabled={disabled}
      onChange={(on) =>
        onChange(on ? [...chosen, userId] : chosen.filter((each) => each !== userId))
      }
    />
  ));
}
