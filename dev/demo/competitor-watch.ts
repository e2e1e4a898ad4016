import { plansAt, RIVALS } from './rivals.ts';
import type { DemoRoutine, Moment, Written } from './written.ts';

const OPENING = 'Watch what our competitors charge';

function text(description: string) {
  return { type: 'string', description };
}

export const COMPETITOR_WATCH: DemoRoutine = {
  opening: OPENING,
  body: {
    name: 'Weekly competitor watch',
    instructions: `${OPENING}, and how they put it. Our own plans cost {{ourPlans}}.

1. Read the pricing page of each with the tool read_page:
${RIVALS.map(({ name, pricing }) => `   - ${name}: ${pricing}`).join('\n')}
2. List every plan with its monthly price in US dollars, the seats in it, and the headline above the prices. Take what the page says, and leave out what it does not.
3. Keep the ids of the previous result, so that the weeks can be compared.

In the summary say in two sentences what has changed since last week and what it means for us, the dearest change first. If nothing has, say that there is nothing to report and give the data all the same.`,
    variables: { ourPlans: '17 USD (Solo) and 42 USD (Studio)' },
    schedule: '0 6 * * 1',
    timezone: 'UTC',
    skills: ['competitor-watch'],
    outcome: 'required',
    resultSchema: {
      type: 'object',
      properties: {
        plans: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              id: text('Competitor and plan, in small letters'),
              competitor: { ...text('Name'), title: 'Competitor' },
              plan: { ...text('Name of the plan'), title: 'Plan' },
              price: { type: 'number', title: 'Price (USD)' },
              seats: { type: 'integer', title: 'Seats' },
              headline: { ...text('Above the prices'), title: 'Headline' },
              pricingPage: { type: 'string', format: 'uri', title: 'Page' },
            },
            required: ['id', 'competitor', 'plan', 'price', 'seats', 'headline', 'pricingPage'],
          },
        },
      },
      required: ['plans'],
    },
    resultKey: { list: '/plans', key: '/id' },
  },
  fixtureModel: 'fixture/analyst',
  pastRuns: 5,
  unread: 1,
  write,
};

/** The news of each week, by weeks before the latest run. */
const NEWS: Readonly<Record<number, string>> = {
  0: 'Studiolark cut Team from 49 to 39 USD, now below our Studio plan, and leads with text reminders. Bookbright sells an assistant at 12 USD; Tidal Desk dropped Basic.',
  2: 'Tidal Desk doubled the seats in Plus to 10 at the same price: three dollars a seat, a third of ours.',
  3: 'Bookbright raised Growth from 39 to 45 USD, the first rise this year. Our Studio plan is now the cheaper one.',
};

function write({ age }: Moment): Written {
  const reads = RIVALS.map(({ pricing }) => pricing);
  const data = { plans: plansAt(age) };
  const isFirst = age === COMPETITOR_WATCH.pastRuns;
  const news = isFirst ? 'Seven plans of three competitors are on record to compare with.' : NEWS[age];
  return {
    reads,
    outcome: news === undefined ? 'nothing_to_report' : 'done',
    summary: news ?? 'No price, plan or headline has changed since last week.',
    text: null,
    data,
  };
}
