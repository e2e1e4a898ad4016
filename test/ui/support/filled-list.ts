import type { ApiClient } from '#test/support/client.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';

interface Ending {
  readonly outcome: 'done' | 'partial' | 'could_not' | 'nothing_to_report';
  readonly summary: string;
}

interface Sample {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Ends of its runs, the latest last. */
  readonly ended: readonly Ending[];
  readonly isDraft?: boolean;
}

const LARGE = { provider: 'gateway', connectionId: null, modelId: 'fixture/writer-large' };

const SAMPLES: readonly Sample[] = [
  {
    fields: { name: 'Weekly site audit', schedule: '0 7 * * 1', timezone: 'Europe/Berlin' },
    ended: times(9, 'done', 'Two pages are gone, one is new'),
  },
  {
    fields: { name: 'Broken links in the documentation', schedule: '30 6 * * *' },
    ended: times(10, 'nothing_to_report', 'All 412 links work'),
  },
  {
    fields: {
      name: 'What competitors changed',
      schedule: '*/30 8-18 * * 1-5',
      timezone: 'America/New_York',
      model: LARGE,
    },
    ended: [
      ...times(6, 'done', 'Northwind dropped its free plan'),
      ...times(1, 'partial', 'Two of five pages were away'),
      ...times(1, 'could_not', 'No pricing page could be read'),
    ],
  },
  {
    fields: { name: 'Support mail by theme', schedule: '0 17 * * 1-5', model: LARGE },
    ended: times(3, 'done', 'Invoices are asked for most'),
  },
  {
    fields: { name: 'Release notes from merged changes', schedule: '0 9 * * 5' },
    ended: times(1, 'done', 'Eleven changes, three of note'),
  },
  {
    fields: { name: 'Newsletter ideas', schedule: '0 9 1 * *' },
    ended: [],
    isDraft: true,
  },
];

/** Long enough to cost something. */
const NOTES = 'A line of notes of the last weeks. '.repeat(280);

/** Fills a project with routines and runs that a list can be looked at with. */
export async function fillList(service: Service, client: ApiClient): Promise<void> {
  for (const [index, { fields, ended, isDraft = false }] of SAMPLES.entries()) {
    const marker = `sample ${index}:`;
    const id = await createRoutine(client, {
      ...fields,
      instructions: `${marker} {{notes}}`,
      variables: { notes: NOTES },
      outcome: 'required',
    });
    for (const ending of ended) {
      service.gateway.control.script({
        marker,
        behaviour: {
          kind: 'tool-calls',
          calls: [{ name: 'finish', arguments: { ...ending } }],
          text: `${ending.summary}.`,
        },
      });
      await runOnce(client, id);
    }
    if (!isDraft) await client.post(`/v1/routines/${id}/activate`);
  }
}

function times(count: number, outcome: Ending['outcome'], summary: string): Ending[] {
  return Array.from({ length: count }, () => ({ outcome, summary }));
}
