import type { Demo } from './seed.ts';

export interface Addresses {
  readonly dashboard: string;
  readonly api: string;
  readonly temporalUi: string | null;
  readonly mail: string;
}

export interface SummaryOptions {
  readonly addresses: Addresses;
  /** Undefined if the demo could not be made. */
  readonly demo: Demo | undefined;
  /** The models that were found. */
  readonly models: string;
  /** A sentence for each missing part, with the remedy. */
  readonly notes: readonly string[];
  /** True if only keys of a paid plan may write, and the organization has not paid yet. */
  readonly payments: boolean;
  readonly readyAfter: string;
}

/** Lists the addresses for a person who has just started the service, and three lines to paste. */
export function summary(options: SummaryOptions): string {
  const { addresses, demo, models, notes, payments, readyAfter } = options;
  const { dashboard, api, temporalUi, mail } = addresses;
  const facts: [name: string, value: string][] = [
    ['Dashboard', dashboard],
    ['API', api],
    ['API docs', `${api}/docs`],
    ['Temporal UI', temporalUi ?? 'of your own Temporal server'],
    ['Mail', mail],
    ['Models', models],
  ];
  if (demo !== undefined) {
    facts.push(['Demo account', `${demo.email} / ${demo.password}`], ['Demo API key', demo.apiKey]);
  }
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    '',
    `Ready after ${readyAfter}. Ctrl-C stops everything.`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    ...notes.flatMap((note) => [`  ${note}`, '']),
    ...(demo === undefined ? [] : linesToPaste(api, demo, payments)),
  ].join('\n');
}

function linesToPaste(api: string, { apiKey, routineId }: Demo, payments: boolean): string[] {
  const auth = `-H 'Authorization: Bearer ${apiKey}'`;
  const list = `  curl -s ${auth} ${api}/v1/models`;
  const latest = `  curl -s ${auth} '${api}/v1/runs?limit=1'`;
  if (payments) {
    const why = 'Keys write on a paid plan only: pay on the page Billing, and they do. Until then they read:';
    return [`  ${why}`, '', list, latest, ''];
  }
  if (routineId === null) return ['  List the models:', '', list, ''];
  return [
    '  List the models, start the demo routine, read its latest run:',
    '',
    list,
    `  curl -s ${auth} -X POST ${api}/v1/routines/${routineId}/run`,
    `  curl -s ${auth} "${api}/v1/runs/$(curl -s ${auth} '${api}/v1/runs?limit=1' | grep -o 'run_[0-9a-z]*' | head -1)"`,
    '',
  ];
}
