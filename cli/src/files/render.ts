import { plain, plainLine } from '../output/plain.ts';
import { diffLines, withContext } from './diff.ts';
import { isMaterial } from './kinds.ts';
import type { Change, FieldChange, Plan } from './plan.ts';

const MARKS = { create: '+', update: '~', adopt: '~', orphan: '-', unchanged: '=' } as const;

/** Says a plan in words. */
export function renderPlan({ changes }: Plan): string {
  const shown = changes.filter(({ action }) => action !== 'unchanged');
  const count = (...actions: Change['action'][]) => changes.filter(({ action }) => actions.includes(action)).length;
  const counts = [
    `${count('create')} to create`,
    `${count('update', 'adopt')} to change`,
    `${count('orphan')} without a file`,
    `${count('unchanged')} unchanged`,
  ];
  return [...shown.flatMap((change) => [...renderChange(change), '']), counts.join(', ')].join('\n');
}

export function nameOf({ kind, key }: Pick<Change, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}

function renderChange(change: Change): string[] {
  const { action, kind, fields } = change;
  const title = `${MARKS[action]} ${nameOf(change)}${noteOf(change)}`;
  return [title, ...fields.flatMap((each) => renderField(each, isMaterial(kind, each.field)))];
}

function noteOf({ action, kind, returnsToDraft, state }: Change): string {
  if (action === 'create') return kind === 'routine' ? '  (new, a draft)' : '  (new)';
  if (action === 'adopt') return '  (as its file says; will be marked as kept in files)';
  if (action === 'orphan') {
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
  if (!isText && field !== 'instructions') {
    const [old, now] = [before, after].map((value) => plainLine(shortened(JSON.stringify(value))));
    return [`    ${field}${mark}: ${old} -> ${now}`];
  }
  const lines = withContext(diffLines(textOf(before), textOf(after)));
  return [`    ${field}${mark}:`, ...lines.map(({ mark: sign, text }) => `      ${sign} ${visible(text)}`.trimEnd())];
}

/** Makes a difference in spaces and line ends visible, and leaves out what a terminal would obey. */
function visible(line: string): string {
  const shown = line.replace(/[ \t]+$/, (spaces) => '·'.repeat(spaces.length)).replace(/\r$/, '␍');
  return plain(shown);
}

function shortened(json: string): string {
  return json.length > 200 ? `${json.slice(0, 200)}…` : json;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
