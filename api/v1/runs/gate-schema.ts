import { z } from 'zod';
import { GATE_REASONS, type GateVerdict } from '#core/execution/gate/index.ts';
import { cut } from '#lib/text.ts';
import { keyOf, timestamp } from '#lib/schemas.ts';
import { idOf, meaningsOf } from '../../http/schemas.ts';

const PREVIEW_LENGTH = 200;

export const gateVerdict = z
  .strictObject({
    at: timestamp,
    asked: z
      .strictObject({
        tool: z.strictObject({ policyId: idOf('policy'), name: z.string().nullable() }).nullable(),
        url: z.string().nullable().describe('Without its query.'),
        status: z.number().int().nullable().describe('HTTP status of the response.'),
        sent: z.boolean().describe('False when it was refused, or never arrived.'),
      })
      .describe('The call that was made. It costs no tokens.'),
    changed: z
      .boolean()
      .nullable()
      .describe('True when the value differs from that of the last successful run; null when unknown.'),
    failed: z.boolean().describe('True if the gate failed, and woke the model for that reason.'),
    reason: keyOf(GATE_REASONS).describe(`Why it woke the model, or did not: ${meaningsOf(GATE_REASONS)}.`),
    error: z.string().nullable(),
    valuePreview: z.string().nullable().describe(`The first ${PREVIEW_LENGTH} characters of the value.`),
    valueLength: z.number().int().nullable(),
  })
  .nullable()
  .meta({ id: 'GateVerdict', description: 'The finding of its gate; null without one.' });

/** Returns the verdict of a gate for a response, with the beginning of the value. */
export function seenByGate(row: GateVerdict | null) {
  return row && { ...row, asked: row.call, valuePreview: row.value === null ? null : cut(row.value, PREVIEW_LENGTH) };
}
