import { z } from 'zod';
import { GATE_REASONS, type GateReason, type GateVerdict } from '#core/execution/gate/index.ts';
import { cut } from '#lib/text.ts';
import { timestamp } from '#lib/schemas.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.keys forgets which keys there are
const reasons = Object.keys(GATE_REASONS) as [GateReason, ...GateReason[]];

const PREVIEW_LENGTH = 200;

export const gateVerdict = z
  .strictObject({
    at: timestamp,
    asked: z
      .strictObject({
        tool: z.strictObject({ policyId: idOf('policy', EXAMPLE.policy), name: z.string().nullable() }).nullable(),
        url: z.string().nullable().meta({ description: 'The address that was asked, without its query.' }),
        status: z.number().int().nullable().meta({ description: 'HTTP status of the response.' }),
        sent: z.boolean().meta({ description: 'False when the request was refused or never arrived.' }),
      })
      .meta({ description: 'The call that was made. It costs no tokens.' }),
    changed: z.boolean().nullable().meta({
      description: 'True when the value differs from that of the last successful run; null when unknown.',
    }),
    failed: z.boolean().meta({ description: 'True if the gate failed, and woke the model for that reason.' }),
    reason: z.enum(reasons).meta({
      description: `Why the gate woke the model, or did not: ${Object.entries(GATE_REASONS)
        .map(([reason, why]) => `\`${reason}\` (${why})`)
        .join(', ')}.`,
    }),
    error: z.string().nullable(),
    valuePreview: z
      .string()
      .nullable()
      .meta({ description: `The first ${PREVIEW_LENGTH} characters of the value.` }),
    valueLength: z.number().int().nullable(),
  })
  .nullable()
  .meta({ id: 'GateVerdict', description: 'The finding of the gate; null without one.' });

/** Returns the verdict of a gate for a response, with the beginning of the value. */
export function seenByGate(row: GateVerdict | null) {
  return row && { ...row, asked: row.call, valuePreview: row.value === null ? null : cut(row.value, PREVIEW_LENGTH) };
}
