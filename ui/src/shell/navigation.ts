import {
  Boxes,
  Cable,
  CalendarDays,
  ChartNoAxesColumn,
  CreditCard,
  House,
  Inbox,
  KeyRound,
  ListChecks,
  Play,
  Settings,
  Sparkles,
  UserRoundCog,
  type LucideIcon,
} from 'lucide-react';

export interface Place {
  readonly to:
    | '/p/$projectId'
    | '/p/$projectId/inbox'
    | '/p/$projectId/routines'
    | '/p/$projectId/runs'
    | '/p/$projectId/calendar'
    | '/p/$projectId/skills'
    | '/p/$projectId/connections'
    | '/p/$projectId/models'
    | '/p/$projectId/model-accounts'
    | '/p/$projectId/api-keys'
    | '/p/$projectId/usage'
    | '/p/$projectId/billing'
    | '/p/$projectId/settings';
  readonly label: string;
  readonly icon: LucideIcon;
  /** The key that is pressed after `g`. */
  readonly key: string;
  /** Shown only while plans are offered. */
  readonly commercial?: boolean;
}

/** The pages of a project, in groups. */
const PLACES: readonly (readonly Place[])[] = [
  [
    { to: '/p/$projectId', label: 'Home', icon: House, key: 'h' },
    { to: '/p/$projectId/inbox', label: 'Inbox', icon: Inbox, key: 'i' },
    { to: '/p/$projectId/routines', label: 'Routines', icon: ListChecks, key: 'r' },
    { to: '/p/$projectId/runs', label: 'Runs', icon: Play, key: 'n' },
    { to: '/p/$projectId/calendar', label: 'Calendar', icon: CalendarDays, key: 'c' },
  ],
  [
    { to: '/p/$projectId/skills', label: 'Skills', icon: Sparkles, key: 's' },
    { to: '/p/$projectId/connections', label: 'Connections', icon: Cable, key: 'o' },
    { to: '/p/$projectId/models', label: 'Models', icon: Boxes, key: 'l' },
    {
      to: '/p/$projectId/model-accounts',
      label: 'Model accounts',
      icon: UserRoundCog,
      key: 'm',
    },
  ],
  [
    { to: '/p/$projectId/api-keys', label: 'API keys', icon: KeyRound, key: 'k' },
    { to: '/p/$projectId/usage', label: 'Usage', icon: ChartNoAxesColumn, key: 'u' },
    {
      to: '/p/$projectId/billing',
      label: 'Billing',
      icon: CreditCard,
      key: 'b',
      commercial: true,
    },
    { to: '/p/$projectId/settings', label: 'Settings', icon: Settings, key: 't' },
  ],
];

/** The tabs of the settings by the people they concern, each with further search words. */
export const SETTINGS = [
  { group: 'For everyone', value: 'organization', label: 'Organization', words: 'plan budget two-factor delete' },
  { group: 'For everyone', value: 'members', label: 'Members', words: 'invite people roles' },
  { group: 'For everyone', value: 'projects', label: 'Projects', words: 'new project budget retention' },
  { group: 'For everyone', value: 'audit', label: 'Audit log', words: 'who did what history' },
  { group: 'For this project', value: 'facts', label: 'Facts', words: 'what holds for every routine' },
  { group: 'For this project', value: 'notifications', label: 'Notifications', words: 'mail digest failures' },
  {
    group: 'For you',
    value: 'account',
    label: 'Your account',
    words: 'password second factor passkey sessions sign out everywhere',
  },
  { group: 'For you', value: 'assistants', label: 'Assistants', words: 'MCP terminals' },
] as const;

/** Lists the pages of this service for the sidebar, the palette and the keys. */
export function placesFor(config: { readonly commercialAcquisition: boolean } | undefined) {
  return PLACES.map((group) =>
    group.filter((place) => place.commercial !== true || config?.commercialAcquisition === true),
  );
}
