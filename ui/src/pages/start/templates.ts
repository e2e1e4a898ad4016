/** A routine that a word or two complete; its skills are curated ones. */
export interface Template {
  readonly id: string;
  readonly name: string;
  /** One sentence about the result of the template. */
  readonly promise: string;
  readonly instructions: string;
  /** Questions to the person, each a variable of the instructions. */
  readonly questions: readonly Question[];
  readonly skills: readonly string[];
  /** Five cron fields, in the reader's time zone. */
  readonly schedule: string;
  readonly scheduleInWords: string;
}

export interface Question {
  readonly name: string;
  readonly label: string;
  readonly placeholder: string;
}

export const TEMPLATES: readonly Template[] = [
  {
    id: 'social',
    name: 'Posts for the week',
    promise: 'Drafts of posts for one channel, each with its point and its day.',
    instructions:
      'Draft the posts of the coming week for {{channel}} about {{subject}}. You have no tools: work from what is said here and from your last result, and do not repeat a post. Mark every fact that a person has to check.',
    questions: [
      {
        name: 'subject',
        label: 'What are they about?',
        placeholder: 'Our bakery in Leeds, open since 1998',
      },
      { name: 'channel', label: 'For which channel?', placeholder: 'LinkedIn' },
    ],
    skills: ['social-content', 'copy-editing'],
    schedule: '0 8 * * 1',
    scheduleInWords: 'every Monday at 08:00',
  },
  {
    id: 'ideas',
    name: 'Content ideas',
    promise: 'Five ideas worth writing, with who would read each and why.',
    instructions:
      'Propose five pieces of content for {{subject}}, for readers like {{readers}}. You have no tools: work from what is said here and from your last result, and bring five new ones. Say for each who reads it, what they want to know and what would prove it wrong.',
    questions: [
      { name: 'subject', label: 'For what?', placeholder: 'A booking tool for climbing gyms' },
      { name: 'readers', label: 'For which readers?', placeholder: 'Owners of small gyms' },
    ],
    skills: ['content-strategy'],
    schedule: '0 8 1 * *',
    scheduleInWords: 'on the first of each month at 08:00',
  },
  {
    id: 'newsletter',
    name: 'Newsletter draft',
    promise: 'A draft with subject lines, from a theme that you keep.',
    instructions:
      'Draft the next newsletter on {{theme}} for {{readers}}. You have no tools: work from what is said here, and go on where your last result ended. Offer three subject lines, and leave a marked gap where news of the week belongs.',
    questions: [
      {
        name: 'theme',
        label: 'What is its theme?',
        placeholder: 'Growing vegetables on a balcony',
      },
      {
        name: 'readers',
        label: 'Who reads it?',
        placeholder: 'People in flats who have never grown anything',
      },
    ],
    skills: ['newsletter', 'copy-editing'],
    schedule: '0 7 * * 4',
    scheduleInWords: 'every Thursday at 07:00',
  },
  {
    id: 'speed',
    name: 'Page speed review',
    promise: 'What slows a site down and what to mend first, from the figures that you give it.',
    instructions:
      'Review the speed of {{site}}. These are the latest figures: {{figures}}. You have no tools: work from these and from your last result. Say which figure is worst for visitors, the likeliest cause, and the one change to make first.',
    questions: [
      { name: 'site', label: 'Which site?', placeholder: 'example.com' },
      {
        name: 'figures',
        label: 'Its latest figures',
        placeholder: 'LCP 3.4 s, INP 180 ms, CLS 0.21, on phones',
      },
    ],
    skills: ['core-web-vitals'],
    schedule: '0 7 * * 1',
    scheduleInWords: 'every Monday at 07:00',
  },
];
