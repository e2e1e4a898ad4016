import { plain, plainLine } from '../output/plain.ts';
import { diffLines, withContext } from './diff.ts';
import { differingFields, isMaterial, type Content } from './kinds.ts';
import { isEmpty, type Change, type FieldChange, type Plan } from './change.ts';

const MARKS = { create: '+', update: '~', adopt: '~', orphan: '-', unchanged: '=' } as const;

export function renderPlan(plan: Plan): string {
  const shown = plan.changes.filter(({ action }) => action !== 'unchanged');
  return [...shown.flatMap((change) => [...renderChange(change), '']), countsOf(plan)].join('\n');
}

function countsOf({ changes }: Plan): string {
  const count = (...actions: Change['action'][]) => changes.filter(({ action }) => actions.includes(action)).length;
  const counts = [
    `${count('create')} to create`,
    `${count('update', 'adopt')} to change`,
    `${count('orphan')} without a file`,
    `${count('unchanged')} unchanged`,
  ];
  return counts.join(', ');
}

/** A comment on GitHub has 65,536 characters at most. */
const MOST_MARKDOWN = 60_000;

/** Renders a plan as a comment of a pull request, the most important parts first. */
export function renderMarkdown(plan: Plan): string {
  const text = renderPlan(plan).split('\n').map(asDiff).join('\n');
  const cut =
    text.length > MOST_MARKDOWN ? `${text.slice(0, MOST_MARKDOWN)}\n… and more: ras plan shows all of it` : text;
  const ticks = Array.from(cut.matchAll(/`+/g), ([run]) => run.length);
  const fence = '`'.repeat(Math.max(3, ...ticks.map((length) => length + 1)));
  const title = `**ras plan${plan.owner === null ? '' : ` · ${plan.owner}`}: ${countsOf(plan)}**`;
  return isEmpty(plan) ? title : `${title}\n\n${fence}diff\n${cut}\n${fence}`;
}

/** Puts the sign of a line first, where `diff` blocks expect it. */
function asDiff(line: string): string {
  const [, space = '', sign = '', rest = ''] = /^( +)([-+]) (.*)$/.exec(line) ?? [];
  return sign === '' ? line : `${sign}${space}${rest}`;
}

/** Returns a plan for programs: without unchanged items, and without whole texts beside their changes. */
export function jsonOf(plan: Plan) {
  const changes = plan.changes.filter(({ action }) => action !== 'unchanged');
  return { ...plan, changes: changes.map(({ desired: _desired, found: _found, ...change }) => change) };
}

export function nameOf({ kind, key }: Pick<Change, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

function renderChange(change: Change): string[] {
  const { action, kind, fields } = change;
  const title = `${MARKS[action]} ${nameOf(change)}${noteOf(change)}`;
  return [title, ...fields.flatMap((each) => renderField(each, isMaterial(kind, each.field)))];
}

function noteOf(change: Change): string {
  const { drift } = change;
  const note = actionNote(change);
  if (drift === null) return note;
  const verb = change.action === 'orphan' ? 'archives' : 'overwrites';
  return `${note}  (changed beside the files by ${plainLine(drift.by)} at ${drift.at.slice(0, 16).replace('T', ' ')} UTC; apply ${verb} that)`;
}

function actionNote({ action, kind, returnsToDraft, state, namedBy }: Change): string {
  if (action === 'create') return kind === 'routine' ? '  (new, a draft)' : '  (new)';
  if (action === 'adopt') return '  (as its file says; is marked as kept by this folder)';
  if (action === 'orphan') {
    if (namedBy.length > 0)
      return `  (has no file any more, and stays: it is named by ${plainLine(namedBy.join(', '))})`;
    return kind === 'routine'
      ? '  (has no file any more; apply --prune archives it)'
      : '  (has no file any more; apply --prune deletes it)';
  }
  if (kind === 'skill') return '  (scheduled runs take it once their routine is proven again)';
  return returnsToDraft ? `  (${state}: returns to draft, and needs a new proof)` : '';
}

function renderField({ field, before, after }: FieldChange, material: boolean): string[] {
  const mark = material ? ' *' : '';
  const isText = [before, after].some((value) => typeof value === 'string' && value.includes('\n'));
  if (isObject(before) && isObject(after)) {
    return differingFields(before, after).flatMap((name) =>
      renderField({ field: `${field}.${name}`, before: own(before, name), after: own(after, name) }, material),
    );
  }
  if (!isText && field !== 'instructions') {
    const [old, now] = [before, after].map((value) => plainLine(shortened(JSON.stringify(value ?? null))));
    return [`    ${field}${mark}: ${old} -> ${now}`];
  }
  const lines = withContext(diffLines(textOf(before), textOf(after)));
  return [`    ${field}${mark}:`, ...lines.map(({ mark: sign, text }) => `      ${sign} ${visible(text)}`.trimEnd())];
}

/** Makes differences in spaces and line ends visible, and removes control characters. */
function visible(line: string): string {
  const shown = line.replace(/[ \t]+$/, (spaces) => '·'.repeat(spaces.length)).replace(/\r$/, '␍');
  return plain(shown);
}

/** Reads only the content's own field, because a variable may be named `constructor`. */
function own(content: Content, name: string): unknown {
  return Object.hasOwn(content, name) ? content[name] : undefined;
}

function isObject(value: unknown): value is Content {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shortened(json: string): string {
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
