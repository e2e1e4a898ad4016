import type { Shape } from '#ui/api/types.ts';

type Mail = NonNullable<Shape<'ProjectDetail'>['notifications']['mail']>;

/** Lists what can be mailed, the most important first. */
export const EVENTS: readonly {
  readonly value: Mail['on'][number];
  readonly label: string;
  readonly description: string;
}[] = [
  {
    value: 'failed',
    label: 'A run fails',
    description: 'At most one mail an hour for a routine; what follows is gathered.',
  },
  {
    value: 'paused',
    label: 'A routine is paused by the service',
    description: 'After failures in a row, or when an account has to be signed in to again.',
  },
  { value: 'budget', label: 'A budget is spent', description: 'At 80%, and once it is used up.' },
  {
    value: 'partial',
    label: 'A run succeeds in part',
    description: 'It ended with the outcome partial.',
  },
  {
    value: 'recovered',
    label: 'A routine works again',
    description: 'The first run that succeeds after failures.',
  },
];

export const GROUPS = [
  { value: 'owners', label: 'Owners' },
  { value: 'admins', label: 'Owners and admins' },
  { value: 'members', label: 'Everybody in the organization' },
  { value: 'people', label: 'People that you choose' },
] as const;
