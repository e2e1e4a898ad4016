/** The rules of docs/skills-writing.md that a program can check, one function a rule. */
import type { Rule } from '../../../bench/skills/gates.ts';
import { capFaults } from './skill-caps.ts';
import { tableFaults } from './skill-sample.ts';
import { longestPart, sentencesOf, shown, tableOf, type SkillText } from './skill-text.ts';
import { FINITE, IMPERATIVES } from './verbs.ts';

export interface Neighbours {
  /** Rules of this skill in skills/gates.yaml. */
  readonly rules: readonly Rule[];
  /** Slugs of skills that became part of another skill. */
  readonly gone: ReadonlySet<string>;
}

export const SECTIONS = [
  'Three rules that always apply',
  'Job',
  'Inputs',
  'Work budget',
  'Method',
  'Numbers',
  'Law',
  'Compare with the previous result',
  'Common mistakes',
  'Output',
  'Sample page',
  'State',
  'Confidence and sources',
  'Where a person decides',
  'Related skills',
];
const OPTIONAL = 'Law';
const MOST_WORDS = 30;
const MOST_NUMBERS = 40;

/** Returns the faults of a text, each as a sentence that names the place. */
export function faultsOfSkill(text: SkillText, neighbours: Neighbours): string[] {
  return [
    ...sectionFaults(text),
    ...[...text.prose, ...text.cells].flatMap(({ section, text: line }) =>
      sentencesOf(line).flatMap((sentence) =>
        sentenceFaults(sentence).map((fault) => `${section}: ${fault}: ${shown(sentence)}`),
      ),
    ),
    ...verbFaults(text),
    ...numberFaults(text),
    ...decisionFaults(text, neighbours.rules),
    ...capFaults(text),
    ...catalogueFaults(text, neighbours.gone),
    ...tableFaults(text),
  ];
}

function sectionFaults({ titles, sectionOf, slug }: SkillText): string[] {
  const wanted = SECTIONS.filter((title) => title !== OPTIONAL || titles.includes(OPTIONAL));
  const faults: string[] = [];
  if (titles.join(', ') !== wanted.join(', ')) {
    faults.push(`the sections are ${titles.join(', ')}; they should be ${wanted.join(', ')}`);
  }
  const rules = sectionOf('Three rules that always apply').split('\n');
  if (rules.map((line) => /^\d\. .*\.$/u.exec(line)?.[0]?.[0]).join('') !== '123') {
    faults.push('Three rules that always apply: not a list of three whole sentences');
  }
  if (!new RegExp(`^\`\`\`state ${slug}\\n[^\`]*\`\`\`$`, 'u').test(sectionOf('State'))) {
    faults.push('State: holds more than its block, or another');
  }
  if (!/If `[a-z-]+`[^.:]* also runs? in this routine: /u.test(sectionOf('Output'))) {
    faults.push('Output: does not say "If `x` also runs in this routine: print …; leave … to it."');
  }
  return faults;
}

const BANNED = [
  /\bbeneath\b/iu,
  /\baloud\b/iu,
  /\bis its own\b/iu,
  /\b(?:beside|under) (?:`|another skill)/iu,
  /\b(?:an|one|each|every|first|next|per|two|three) acts?\b(?!-)/u,
  /\b(?:whoever|whatever|nobody|somebody|anew|of before|for want of|comes to|tells of)\b/iu,
];

function sentenceFaults(sentence: string): string[] {
  const bare = sentence.replaceAll(/`[^`]*`/gu, 'code').replaceAll(/"[^"]*"/gu, 'quoted');
  const words = longestPart(sentence);
  const barred = BANNED.map((pattern) => pattern.exec(sentence)?.[0]).filter(Boolean);
  return [
    ...(words > MOST_WORDS ? [`${words} words`] : []),
    ...(/^[^:]*;/u.test(bare) ? ['a semicolon outside a list'] : []),
    ...((bare.match(/:(?=\s)/gu)?.length ?? 0) > 1 ? ['two colons'] : []),
    ...barred.map((word) => `"${word}" is banned`),
  ];
}

function verbFaults({ prose }: SkillText): string[] {
  return prose
    .filter(({ section }) => section === 'Method' || section === SECTIONS[0])
    .flatMap(({ section, text }) =>
      sentencesOf(text)
        .filter((sentence) => !hasVerb(sentence))
        .map((sentence) => `${section}: no verb: ${shown(sentence)}`),
    );
}

/** Tells whether a clause of the sentence begins with an imperative, or the sentence has a finite verb. */
function hasVerb(sentence: string): boolean {
  const bare = sentence.replaceAll(/[*_]/gu, '');
  if (FINITE.test(bare)) return true;
  return bare.split(/[,:;]\s+|\s(?:and|or|but|then)\s/u).some((clause) => {
    const words = clause.replace(/^[^\p{L}]+/u, '').split(/[\s,.;:]+/u);
    const [first = '', second = ''] = words.map((word) => word.toLowerCase());
    const lead = /^(?:never|always|also|then|only|otherwise|instead|first|last|next|else)$/u.test(first);
    return IMPERATIVES.has(lead ? second : first) && (lead || second !== 'of');
  });
}

function numberFaults(skill: SkillText): string[] {
  const { sectionOf } = skill;
  const count = numbersOutside(skill);
  const [numbers, law] = [tableOf(sectionOf('Numbers')), tableOf(sectionOf('Law'))];
  return [
    ...(count > MOST_NUMBERS ? [`${count} numbers outside the tables, ${MOST_NUMBERS} at most`] : []),
    ...columnFaults('Numbers', numbers, 'Value, Meaning, Source'),
    ...(law.length === 0 ? [] : columnFaults('Law', law, 'Place, Rule, Since, Verified on')),
    ...law
      .slice(1)
      .filter((row) => !/^(?:\d{4}-\d\d-\d\d|verify)$/u.test(row[3] ?? ''))
      .map((row) => `Law: neither a day nor "verify" in the last column: ${row.join(' | ')}`),
  ];
}

function columnFaults(section: string, [columns = [], ...rows]: string[][], wanted: string): string[] {
  if (columns.join(', ') !== wanted) return [`${section}: has no table of the columns ${wanted}`];
  return rows
    .filter((row) => row.length !== columns.length || row.some((cell) => cell === ''))
    .map((row) => `${section}: a row that does not fill its columns: ${row.join(' | ')}`);
}

/** Counts the numbers of a text outside its tables, its sample page and its state block. */
export function numbersOutside({ prose }: SkillText): number {
  return prose.reduce((sum, { text }) => sum + numbersIn(text), 0);
}

/** Counts the numbers of a line, except days and references to steps of the method. */
function numbersIn(line: string): number {
  const bare = line.replaceAll(/\d{4}-\d\d-\d\d|\bsteps? \d+(?:(?:, | and |-)\d+)*/giu, '');
  return bare.match(/(?<![\p{L}\p{N}_.,-])\d[\d.,]*/gu)?.length ?? 0;
}

const DECIDES = /\b(?:report|(?:is|are|be) reported|alerts?|alarms?|mov(?:ed|es)|changed|(?<!^)changes?)\b/iu;
/** Words for a change of a figure. In the section Compare, each of them decides what the report says. */
const MOVES = /\b(?:rose|rises?|fell|falls?|dropped|drops?|counts?|at least)\b/iu;
const FACTORS: Readonly<Record<string, number>> = {
  doubled: 100,
  doubles: 100,
  tripled: 200,
  halved: 50,
};

/** Finds percentages that decide about a report and are missing in gates.yaml. */
function decisionFaults({ prose, sectionOf }: SkillText, rules: readonly Rule[]): string[] {
  const held = new Set(
    rules.flatMap((rule) => (rule.test === 'threshold' ? [rule.limit] : Object.keys(rule.sizes).map(Number))),
  );
  const deciding = prose
    .filter(({ section }) => /^(?:Method|Output|Compare|Three rules)/u.test(section))
    .flatMap(({ section, text }) => sentencesOf(text).map((sentence) => ({ section, sentence })))
    .filter(
      ({ section, sentence }) =>
        (DECIDES.test(sentence) || (section.startsWith('Compare') && MOVES.test(sentence))) &&
        !/^Example\b/u.test(sentence),
    );
  const inTable = tableOf(sectionOf('Numbers'))
    .slice(1)
    .filter(
      ([, meaning = '', source = '']) =>
        source === 'gates' || /\b(?:worth (?:acting on|reporting)|reported|alerts?)\b/u.test(meaning),
    )
    .map(([value = '']) => ({ section: 'Numbers', sentence: value }));
  return [...deciding, ...inTable].flatMap(({ section, sentence }) =>
    percentagesIn(sentence)
      .filter((percentage) => !held.has(percentage))
      .map(
        (percentage) => `${section}: ${percentage} decides about a report and is not in gates.yaml: ${shown(sentence)}`,
      ),
  );
}

function percentagesIn(sentence: string): number[] {
  const bare = sentence.replaceAll(/"[^"]*"/gu, '').replaceAll(/\d+ % (?:interval|bound|confidence)/gu, '');
  const written = [...bare.matchAll(/(\d+(?:\.\d+)?)(?: ?%| points?\b| percent\b)/gu)].map(([, digits]) =>
    Number(digits),
  );
  const words = Object.keys(FACTORS).filter((word) => new RegExp(`\\b${word}\\b`, 'iu').test(bare));
  return [...written, ...words.map((word) => FACTORS[word] ?? 0)];
}

function catalogueFaults({ instructions, sectionOf }: SkillText, gone: ReadonlySet<string>): string[] {
  const related = [...sectionOf('Related skills').matchAll(/^- `([a-z-]+)`/gmu)].map(([, slug]) => slug ?? '');
  const twice = related.filter((slug, index) => related.indexOf(slug) !== index);
  // Look outside of the section Compare, which alone may name the block of a former skill.
  const elsewhere = instructions.replace(sectionOf('Compare with the previous result'), '');
  const named = [...gone].filter((slug) => elsewhere.includes(`\`${slug}\``));
  const stale = /\bno (?:other )?skill (?:of|in) this (?:set|catalogue)\b/iu.exec(instructions)?.[0];
  const end = /\b(?:register|ledger|codebook|index|table|list)[^.\n]{0,40}\bat the end\b/iu.exec(instructions)?.[0];
  return [
    ...twice.map((slug) => `Related skills: names \`${slug}\` twice`),
    ...named.map((slug) => `names \`${slug}\`, which was folded into another skill`),
    ...(stale === undefined ? [] : [`says "${stale}", which the next skill makes false`]),
    ...(end === undefined ? [] : [`"${end}": registers stand under the headline`]),
  ];
}
