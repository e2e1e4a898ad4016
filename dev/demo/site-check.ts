import { OWN_PATHS, readPage, SITE, SITE_EVENTS } from './pages.ts';
import type { DemoRoutine, Moment, Written } from './written.ts';

const OPENING = 'Check the pages that we sell by on {{site}}';

export const SITE_CHECK: DemoRoutine = {
  opening: OPENING.slice(0, OPENING.indexOf('{{')),
  body: {
    name: 'Daily site check',
    instructions: `${OPENING}, as a visitor from a search engine would meet them.

1. Read each of these pages with the tool read_page: ${OWN_PATHS.join(' ')}
2. Note the status, the time and the title of each.
3. Compare with the previous result. A page matters when it does not answer with 200, takes more than 2 seconds, or has another title than before.

Write for the person who opens this over the first coffee: one line that says whether anything is to be done, then a table of the pages, then for each page that matters what a visitor meets and whom to tell. If all is as before, say that there is nothing to report. If no page could be read, say that you could not check.`,
    variables: { site: SITE.replace('https://', '') },
    schedule: '0 7 * * *',
    timezone: 'UTC',
    skills: ['technical-seo'],
    outcome: 'required',
  },
  fixtureModel: 'fixture/writer-small',
  pastRuns: 28,
  unread: 3,
  write,
};

const NEWS: Readonly<Record<number, readonly [line: string, advice: string]>> = {
  [SITE_EVENTS.slowTemplates]: [
    'The templates page is slow: 4.2 s, six times its usual time.',
    'A visitor on a phone leaves before it shows. Ask the web team whether the new preview pictures can be smaller.',
  ],
  [SITE_EVENTS.newTitle]: [
    'The title of the pricing page is new: “Plans and pricing · Fernwell”.',
    'It reads well and keeps the word that people search for. Nothing to do if it was meant; the old one was “Pricing · Fernwell”.',
  ],
  [SITE_EVENTS.lostSignUp]: [
    'The sign-up page answers 404: no one can start a trial.',
    'Every “Start your free month” button leads there, and so do two ads that run until Sunday. Tell the web team now; until it is back, pause the ads.',
  ],
};

function write(moment: Moment): Written {
  const reads = OWN_PATHS.map((path) => `${SITE}${path}`);
  if (moment.age === SITE_EVENTS.outage) {
    const summary = 'The site did not answer: all six pages timed out after 10 seconds.';
    const text = `${summary} I could not check it.`;
    return { reads, outcome: 'could_not', summary, text };
  }
  const rows = OWN_PATHS.map((path, index) => {
    const page = readPage(reads[index] ?? '', { ...moment, weeks: 0 });
    const ms = page?.ms ?? 0;
    // The time is rounded, so that only real differences between two days are visible.
    const time = ms < 1_000 ? 'under 1 s' : `${(ms / 1_000).toFixed(1)} s`;
    return `| ${path} | ${page?.status} | ${time} | ${page?.title} |`;
  });
  const news = NEWS[moment.age];
  const line = news?.[0] ?? 'All six pages answer, quickly and under their usual titles.';
  const text = [
    `**${line}**`,
    '',
    '| page | status | time | title |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
    news?.[1] ?? 'Nothing to do today.',
  ].join('\n');
  const isFirst = moment.age === SITE_CHECK.pastRuns;
  const outcome = news === undefined && !isFirst ? 'nothing_to_report' : 'done';
  return { reads, outcome, summary: line, text };
}
