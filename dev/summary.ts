import type { Demo } from './seed.ts';

export interface Addresses {
  readonly dashboard: string;
  readonly api: string;
  readonly temporalUi: string | null;
  readonly mail: string;
}

/** Tells a person who has just started the service where things are, with three lines to paste. */
export function summary(
  { dashboard, api, temporalUi, mail }: Addresses,
  demo: Demo,
  readyAfter: string,
): string {
  const auth = `-H 'Authorization: Bearer ${demo.apiKey}'`;
  const facts = [
    ['Dashboard', dashboard],
    ['API', api],
    ['API docs', `${api}/docs`],
    ['Temporal UI', temporalUi ?? 'of your own Temporal server'],
    ['Mail', mail],
    ['Demo account', `${demo.email} / ${demo.password}`],
    ['Demo API key', demo.apiKey],
  ] as const;
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    '',
    `Ready after ${readyAfter}. Ctrl-C stops everything.`,
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    ...(demo.leftToDo === undefined ? [] : [`  ${demo.leftToDo}`, '']),
    '  List the models, start the demo routine, read its latest run:',
    '',
    `  curl -s ${auth} ${api}/v1/models`,
    `  curl -s ${auth} -X POST ${api}/v1/routines/${demo.routineId}/run`,
    `  curl -s ${auth} "${api}/v1/runs/$(curl -s ${auth} '${api}/v1/runs?limit=1' | grep -o 'run_[0-9a-z]*' | head -1)"`,
    '',
  ].join('\n');
}
