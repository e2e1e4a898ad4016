/** A plan of a competitor, one item of the weekly data. */
export interface Plan {
  readonly id: string;
  readonly competitor: string;
  readonly plan: string;
  readonly price: number;
  readonly seats: number;
  readonly headline: string;
  readonly pricingPage: string;
}

interface Rival {
  readonly name: string;
  readonly pricing: string;
  /** First line of the competitor's pricing page, by weeks before the latest run. */
  readonly headlineAt: (weeks: number) => string;
}

export const RIVALS: readonly Rival[] = [
  {
    name: 'Studiolark',
    pricing: 'https://studiolark.example/pricing',
    headlineAt: (weeks) => (weeks === 0 ? 'Text reminders now in every plan' : 'The calm way to run a studio'),
  },
  {
    name: 'Bookbright',
    pricing: 'https://bookbright.example/plans',
    headlineAt: () => 'Bookings that pay for themselves',
  },
  {
    name: 'Tidal Desk',
    pricing: 'https://tidaldesk.example/pricing',
    headlineAt: () => 'One desk for front of house',
  },
];

/** Prices and seats of each plan, by weeks before the latest run; undefined in weeks without the plan. */
const PLANS: readonly (readonly [
  competitor: string,
  plan: string,
  at: (weeks: number) => readonly [price: number, seats: number] | undefined,
])[] = [
  ['Studiolark', 'Team', (weeks) => [weeks === 0 ? 39 : 49, 5]],
  ['Studiolark', 'Solo', () => [19, 1]],
  ['Bookbright', 'Starter', () => [15, 2]],
  ['Bookbright', 'Growth', (weeks) => [weeks <= 3 ? 45 : 39, 6]],
  ['Bookbright', 'Pro', () => [89, 20]],
  ['Bookbright', 'Assistant', (weeks) => (weeks === 0 ? [12, 1] : undefined)],
  ['Tidal Desk', 'Basic', (weeks) => (weeks === 0 ? undefined : [12, 1])],
  ['Tidal Desk', 'Plus', (weeks) => [29, weeks <= 2 ? 10 : 5]],
];

/** Lists what the competitors offered in a week. */
export function plansAt(weeks: number): readonly Plan[] {
  return PLANS.flatMap(([competitor, plan, at]) => {
    const offer = at(weeks);
    const rival = RIVALS.find(({ name }) => name === competitor);
    if (offer === undefined || rival === undefined) return [];
    const [price, seats] = offer;
    const id = `${competitor}/${plan}`.toLowerCase().replaceAll(' ', '-');
    const headline = rival.headlineAt(weeks);
    return [{ id, competitor, plan, price, seats, headline, pricingPage: rival.pricing }];
  });
}
