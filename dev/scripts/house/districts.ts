/**
 * The districts of `core/` with their subjects, from the top. A subject imports only subjects that follow it in this
 * list, through their `index.ts`. A district without subjects is a subject itself. CONTRIBUTING.md shows the same list.
 */
const DISTRICTS: Readonly<Record<string, readonly string[]>> = {
  scheduling: [],
  upkeep: ['observability', 'model-tests', 'deletion', 'digests', 'attention'],
  execution: [
    'steps',
    'run-events',
    'retention',
    'shared-links',
    'actions',
    'questions',
    'runs',
    'results',
    'breaker',
    'run-states',
    'prompt',
    'gate',
    'forecast',
    'admission',
  ],
  delivery: ['chats', 'webhooks', 'notifications'],
  authoring: ['drafts', 'routines', 'outcomes', 'definition', 'skills', 'facts'],
  usage: [],
  models: ['directory', 'calls', 'connections', 'providers'],
  integrations: ['tools', 'chats', 'connections'],
  accounts: ['settings', 'programs', 'identity', 'billing', 'organizations', 'leads'],
  foundation: ['timetable', 'rate-limits', 'outbox', 'work', 'engine', 'idempotency', 'cost', 'audit'],
  clients: ['gateway', 'chats', 'mcp', 'oauth', 'json-schemas', 'calculate'],
};

/** Paths of the subjects, from the top. */
export const SUBJECTS = Object.entries(DISTRICTS).flatMap(([district, subjects]) =>
  subjects.length === 0 ? [`core/${district}`] : subjects.map((subject) => `core/${district}/${subject}`),
);

/** Files outside the districts. `services.ts` creates all subjects; the other files use only foundation. */
const BESIDE: ReadonlySet<string> = new Set(['core/core.ts', 'core/events.ts', 'core/services.ts']);

/** Tells whether a file of `core/` belongs to no subject of the list. */
export function isOutside(file: string): boolean {
  return file.startsWith('core/') && !BESIDE.has(file) && placeOf(file) === -1;
}

/** Tells whether an import between two files of `core/` points up, or past the `index.ts` of another subject. */
export function pointsUp(from: string, to: string): boolean {
  if (from === 'core/services.ts') return false;
  if (BESIDE.has(to)) return to === 'core/services.ts';
  if (BESIDE.has(from)) return !to.startsWith('core/foundation/');
  const [importer, imported] = [placeOf(from), placeOf(to)];
  if (importer === imported) return false;
  return imported < importer || to !== `${SUBJECTS[imported]}/index.ts`;
}

/** Folders of tests that belong to no folder of `core`, `api` or `lib`. */
const WHOLE: ReadonlySet<string> = new Set(
  'chart cli contract deploys dev docs faults image real runtime sdk support ui workers workflows'.split(' '),
);

/**
 * Tells whether a test lies in no folder of the code that it tests; `folders` are those of the code, such as
 * `lib/outbound`.
 */
export function isAstray(file: string, folders: ReadonlySet<string>): boolean {
  if (!file.startsWith('test/')) return false;
  const [, room = '', folder, ...below] = file.split('/');
  if (room === 'core') return !SUBJECTS.some((subject) => file.startsWith(`test/${subject}/`));
  if (room === 'api' || room === 'lib') return below.length > 0 && !folders.has(`${room}/${folder}`);
  return folder !== undefined && !WHOLE.has(room);
}

/** Returns the position of a file in the list, 0 at the top; -1 for a file of no subject. */
function placeOf(file: string): number {
  return SUBJECTS.findIndex((subject) => file.startsWith(`${subject}/`));
}
