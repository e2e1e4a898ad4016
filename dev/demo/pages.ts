import { plansAt, RIVALS } from './rivals.ts';
import { dayNumber, type Moment } from './written.ts';

/** A page as the tool reads it. */
export interface ReadPage {
  readonly status: number;
  readonly ms: number;
  readonly title: string;
  readonly text: string;
}

export const SITE = 'https://www.fernwell.example';

/** Pages of the site of the demo's company, with the usual response time of each. */
const OWN: Readonly<Record<string, readonly [title: string, ms: number, text: string]>> = {
  '/': ['Booking software for small studios · Fernwell', 390, 'Fill your classes, not your inbox.'],
  '/pricing': ['Pricing · Fernwell', 350, 'Solo 17 USD, Studio 42 USD a month. First month free.'],
  '/reminders': ['Text reminders that fill classes · Fernwell', 460, 'Fewer no-shows.'],
  '/templates': ['Class timetable templates · Fernwell', 610, 'Nine timetables to copy.'],
  '/blog': ['Studio notes · Fernwell', 540, 'Latest: “How we price a trial class”. 24 posts.'],
  '/signup': ['Start your free month · Fernwell', 430, 'No card needed. Two minutes.'],
};

export const OWN_PATHS = Object.keys(OWN);

/** Faults that the site once had, by days before the latest check. */
export const SITE_EVENTS = { slowTemplates: 22, newTitle: 13, outage: 6, lostSignUp: 1 } as const;

/** Reads a page of the demo's web as it was at a time; undefined for an unknown address. */
export function readPage(url: string, moment: Moment & { weeks: number }): ReadPage | undefined {
  const rival = RIVALS.find(({ pricing }) => pricing === url);
  if (rival !== undefined) {
    const plans = plansAt(moment.weeks).filter(({ competitor }) => competitor === rival.name);
    const lines = plans.map(({ plan, price, seats }) => `${plan}: ${price} USD a month, ${seats} seats.`);
    const text = [rival.headlineAt(moment.weeks), ...lines].join('\n');
    return { status: 200, ms: 480, title: `${rival.name} pricing`, text };
  }
  const path = url.startsWith(SITE) ? url.slice(SITE.length) || '/' : '';
  return readOwn(path, moment);
}

function readOwn(path: string, { at, age }: Moment): ReadPage | undefined {
  const page = OWN[path];
  if (page === undefined) return undefined;
  const [title, usual, text] = page;
  const ms = usual + ((dayNumber(at) * 7 + path.length * 13) % 60);
  if (age === SITE_EVENTS.outage) return { status: 504, ms: 10_000, title: '', text: '' };
  if (path === '/signup' && age === SITE_EVENTS.lostSignUp) {
    return { status: 404, ms, title: 'Page not found · Fernwell', text: 'Nothing is here.' };
  }
  if (path === '/templates' && age === SITE_EVENTS.slowTemplates) {
    return { status: 200, ms: 4_200, title, text };
  }
  if (path === '/pricing' && age <= SITE_EVENTS.newTitle) {
    return { status: 200, ms, title: 'Plans and pricing · Fernwell', text };
  }
  return { status: 200, ms, title, text };
}

/** Writes a page as the tool returns it. */
export function pageAsText({ status, ms, title, text }: ReadPage): string {
  return [`Status: ${status}`, `Time: ${ms} ms`, `Title: ${title}`, '', text].join('\n').trim();
}
