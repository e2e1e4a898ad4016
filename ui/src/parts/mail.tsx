import { useRead } from '#ui/api/read.ts';
import type { Shape } from '#ui/api/types.ts';
import { Checkbox } from './toggles.tsx';

export type Mail = Shape<'MailSettings'>;

/** The people who can get mail. */
export const RECIPIENTS = [
  { value: 'owners', label: 'Owners' },
  { value: 'admins', label: 'Owners and admins' },
  { value: 'members', label: 'All members' },
  { value: 'people', label: 'Chosen people' },
] as const;

/** Lists the events that can be mailed, the most important first. */
const EVENTS: readonly {
  readonly value: Mail['on'][number];
  readonly label: string;
  readonly description: string;
}[] = [
  {
    value: 'failed',
    label: 'A run fails',
    description: 'At most one mail an hour for a routine. Later events come together in one mail.',
  },
  {
    value: 'paused',
    label: 'A routine is paused by the service',
    description: 'After several failures in a row, or when someone has to sign in to an account again.',
  },
  { value: 'budget', label: 'A budget is spent', description: 'At 80% of the budget, and once it is used up.' },
  {
    value: 'partial',
    label: 'A run succeeds in part',
    description: 'The run ended with the outcome partial.',
  },
  {
    value: 'recovered',
    label: 'A routine works again',
    description: 'The first run that succeeds after failures.',
  },
  {
    value: 'held',
    label: 'A call waits for you',
    description: 'A run called a tool that needs approval.',
  },
  {
    value: 'question',
    label: 'A run asks a question',
    description: 'The mail leads to the page where you answer it.',
  },
];

export interface EventsProps {
  readonly mail: Mail;
  /** True to say below each event when it is mailed. */
  readonly described?: boolean;
  readonly disabled?: boolean;
  readonly onChange: (mail: Mail) => void;
}

/** Chooses the events that are mailed, each with a checkbox. */
export function Events({ mail, described = false, disabled = false, onChange }: EventsProps) {
  return EVENTS.map(({ value, label, description }) => (
    <Checkbox
      key={value}
      label={label}
      description={described ? description : undefined}
      checked={mail.on.includes(value)}
      disabled={disabled}
      onChange={(on) =>
        onChange({
          ...mail,
          on: on ? [...mail.on, value] : mail.on.filter((each) => each !== value),
        })
      }
    />
  ));
}

/** Returns the recipients as they are chosen from the list. */
export function recipientsOf({ to }: Mail): (typeof RECIPIENTS)[number]['value'] {
  return typeof to === 'string' ? to : 'people';
}

/** Returns the settings with other recipients. A list of chosen people begins empty. */
export function withRecipients(mail: Mail, next: (typeof RECIPIENTS)[number]['value']): Mail {
  return { ...mail, to: next === 'people' ? [] : next };
}

export interface PeopleProps {
  readonly organizationId: string | undefined;
  readonly chosen: readonly string[];
  readonly disabled?: boolean;
  readonly onChange: (chosen: string[]) => void;
}

/** Chooses people of the organization, each with a checkbox. */
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
      onChange={(on) => onChange(on ? [...chosen, userId] : chosen.filter((each) => each !== userId))}
    />
  ));
}
