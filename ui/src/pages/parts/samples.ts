import { ApiError } from '#ui/api/error.ts';

export const STATES = [
  'queued',
  'running',
  'succeeded',
  'nothing_to_report',
  'partial',
  'could_not',
  'failed',
  'cancelled',
  'skipped',
  'draft',
  'active',
  'paused',
  'archived',
];

const HOUR_MS = 3_600_000;
const FIRST = Date.parse('2026-11-20T07:00:00.000Z');

export const RUNS = [
  'running',
  'succeeded',
  'succeeded',
  'failed',
  'succeeded',
  'skipped',
  'succeeded',
  'succeeded',
  'cancelled',
  'succeeded',
].map((state, index) => ({
  id: `${index}`,
  state,
  at: new Date(FIRST - index * 24 * HOUR_MS).toISOString(),
}));

export const ROUTINES = [
  {
    id: '1',
    name: 'Weekly audit',
    state: 'active',
    cost: '$4.12',
    runs: RUNS,
    next: '2026-11-23T07:00:00.000Z',
  },
  {
    id: '2',
    name: 'Daily site check',
    state: 'paused',
    cost: '$0.31',
    runs: RUNS.slice(3),
    next: null,
  },
  {
    id: '3',
    name: 'What competitors changed on their pricing pages',
    state: 'draft',
    cost: '$0.00',
    runs: [],
    next: null,
  },
  {
    id: '4',
    name: 'Old newsletter digest',
    state: 'archived',
    cost: '$18.90',
    runs: RUNS.slice(1),
    next: null,
  },
];

export const ITEMS = ['writer-small', 'writer-large', 'reasoner', 'reader'].map((name) => ({
  id: name,
  label: `fixture/${name}`,
}));

export const ERROR = new ApiError({
  status: 502,
  code: 'api_unreachable',
  message: 'The API cannot be reached. Try again in a moment.',
  requestId: '6b2f0a3e-5d0c-4a43-9d7e-2f6f6c0a9b11',
});

export const MARKDOWN = `## What changed

The title of **/pricing** is new, and two pages are gone:

1. \`/blog/launch\` leads to a 404
2. \`/team\` redirects to \`/about\`

| Page | LCP | Change |
|---|---|---|
| / | 1.8 s | −0.2 s |
| /pricing | 3.1 s | +0.9 s |

Next: look at the hero image of \`/pricing\`.
`;

export const DAYS = Array.from({ length: 14 }, (_, index) => ({
  key: `${index}`,
  label: new Date(FIRST - (13 - index) * 24 * HOUR_MS).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
  }),
  parts: [
    { key: 'audit', value: 8_000 + ((index * 7_919) % 9_000) },
    { key: 'check', value: index % 5 === 0 ? 0 : 3_000 + ((index * 3_571) % 4_000) },
  ],
}));
