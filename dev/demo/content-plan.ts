import { SITE } from './pages.ts';
import { dayInWords, daysLater, type DemoRoutine, type Moment, type Written } from './written.ts';

const OPENING = 'Plan the next four weeks of content';

export const CONTENT_PLAN: DemoRoutine = {
  opening: OPENING,
  body: {
    name: 'Monthly content plan',
    instructions: `${OPENING} for {{audience}}.

We can make two pieces a week: one that answers a question people search for, and one that reuses it in another form. See with the tool read_page what ${SITE}/blog and ${SITE}/templates have already.

Give one theme for the month and why now, then a table with week, piece, form, the question it answers, and the page it should lead to. Name one piece of the last plan to stop or to redo. Close with what you need from us, and by when.`,
    variables: { audience: 'owners of yoga, dance and pottery studios' },
    schedule: '0 8 1 * *',
    timezone: 'UTC',
    skills: ['editorial-calendar'],
    outcome: 'required',
  },
  fixtureModel: 'fixture/writer-large',
  pastRuns: 2,
  unread: 0,
  write,
};

interface Theme {
  readonly theme: string;
  readonly why: string;
  /** The article of each week, the question that it answers, its second form, and its page. */
  readonly weeks: readonly (readonly [string, string, string, string])[];
  readonly stop: string;
  readonly need: string;
}

const THEMES: readonly [Theme, ...Theme[]] = [
  {
    theme: 'Fewer empty mats',
    why: 'No-shows peak when the weather turns, and reminders are what we do better than the others.',
    weeks: [
      ['What a no-show costs a studio', 'how much do no-shows cost', 'a calculator', '/reminders'],
      ['A cancellation rule that keeps people', 'yoga cancellation policy', 'a template', '/templates'],
      ['When to send a reminder', 'best time for appointment reminder', 'a short video', '/reminders'],
      ['Waiting lists that fill themselves', 'class waiting list', 'a walk-through', '/signup'],
    ],
    stop: 'Stop the monthly interview: four in a row brought fewer than 30 readers each.',
    need: 'Two studios that let us use their no-show figures',
  },
  {
    theme: 'The timetable that earns',
    why: 'Owners plan the new term now, and our templates are the page they find us by.',
    weeks: [
      ['How many classes a week pay the rent', 'how many classes to break even', 'a sheet', '/templates'],
      ['Early, noon or evening', 'best time for yoga class', 'a poll', '/blog'],
      ['Pricing a trial class', 'trial class price', 'three examples', '/pricing'],
      ['Moving a term without losing anyone', 'change class schedule email', 'a mail to copy', '/signup'],
    ],
    stop: 'Redo “Nine timetables”: two of them still show last year.',
    need: 'The timetable that brought the most sign-ups, without names',
  },
  {
    theme: 'From first visit to member',
    why: 'Trials are up and memberships are not: the gap is the second visit.',
    weeks: [
      ['The mail after the first class', 'welcome email studio', 'a mail to copy', '/templates'],
      ['Passes or memberships', 'class pass vs membership', 'a decision chart', '/pricing'],
      ['What beginners are afraid of', 'first pottery class what to expect', 'a checklist', '/blog'],
      ['A month of small goals', 'fitness challenge ideas studio', 'a poster', '/signup'],
    ],
    stop: 'Stop the list of studio tools; it ranks for nothing that sells.',
    need: 'The share of trials that come a second time, by studio type',
  },
];

function write({ at }: Moment): Written {
  const { theme, why, weeks, stop, need } = THEMES[at.getUTCMonth() % THEMES.length] ?? THEMES[0];
  const from = daysLater(at, (8 - at.getUTCDay()) % 7);
  const rows = weeks.map(([piece, question, form, page], week) => {
    const day = dayInWords(daysLater(from, week * 7));
    return `| ${day} | ${piece} | article, then ${form} | ${question} | ${page} |`;
  });
  const result = [
    `# ${theme}`,
    '',
    why,
    '',
    '| week of | piece | forms | question it answers | leads to |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    '## From the last plan',
    '',
    stop,
    '',
    '## What we need from you',
    '',
    `${need}, by ${dayInWords(daysLater(from, 2))}. The rest is written with what is there.`,
  ].join('\n');
  return {
    reads: [`${SITE}/blog`, `${SITE}/templates`],
    outcome: 'done',
    summary: `Eight pieces in four weeks on “${theme}”. ${stop}`,
    text: result,
  };
}
