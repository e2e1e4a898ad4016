import { z } from 'zod';
import { WAKE_ON, type Gate } from '#core/routines/index.ts';
import { JSON_POINTER } from '#lib/json-pointer.ts';
import { EXAMPLE, idOf } from '../../http/schemas.ts';

const MAX_ARGUMENTS_LENGTH = 16_000;

const tool = z
  .strictObject({
    policyId: idOf('policy', EXAMPLE.policy),
    arguments: z
      .record(z.string(), z.unknown())
      .refine(
        (value) => JSON.stringify(value).length <= MAX_ARGUMENTS_LENGTH,
        `more than ${MAX_ARGUMENTS_LENGTH} characters of JSON`,
      ),
  })
  .nullable()
  .meta({
    description:
      'A confirmed tool of this routine that only reads by its annotations, and the arguments to call it with.',
  });

const shape = {
  tool,
  url: z.string().max(2_000).nullable().meta({
    description: 'An address to GET, of at most 64 kB; without credentials.',
    example: 'https://example.com/feed.json',
  }),
  pointers: z
    .array(z.string().max(500).regex(JSON_POINTER, 'a JSON Pointer (RFC 6901)'))
    .max(20)
    .refine((pointers) => new Set(pointers).size === pointers.length, 'the same pointer twice')
    .meta({
      uniqueItems: true,
      description: 'JSON Pointers to what matters in the response; none for the whole of it.',
      example: ['/items'],
    }),
  wakeOn: z.enum(WAKE_ON).meta({
    description:
      '`changed`: the value differs from the one that the last run which succeeded has seen. `not_empty`: it is not null, false, 0, blank, `[]` or `{}`.',
  }),
  maxQuietHours: z.number().int().min(1).max(8_760).nullable().meta({
    description: 'After so long without a run that woke its model, the next one does in any case.',
  }),
};

/** A gate in a preview. */
export const previewedGate = z
  .strictObject({
    ...shape,
    fault: z.string().nullable().meta({
      description:
        'Why the gate may not be asked now, so that each scheduled run would wake its model and say so; null where it may.',
      example: 'nobody has confirmed that this tool may be used without being asked',
    }),
  })
  .nullable()
  .meta({
    id: 'PreviewedGate',
    description:
      'What a scheduled run would ask before it wakes its model; null without a gate. A preview does not ask it, so `{{gate.value}}` is empty in the prompt.',
  });

/** A gate in responses. */
export const gate = z.strictObject(shape).nullable().meta({
  id: 'Gate',
  description:
    'What a scheduled run looks at before it wakes its model. With nothing new it ends `skipped`, `no_change`. `{{gate.value}}` puts what was seen into the instructions.',
});

/** A gate in requests. */
export const gateInput = z
  .strictObject({
    tool: tool.default(null),
    url: shape.url.default(null),
    pointers: shape.pointers.default([]),
    wakeOn: shape.wakeOn.default('changed'),
    maxQuietHours: shape.maxQuietHours.default(null),
  })
  .refine((value) => (value.tool === null) !== (value.url === null), 'either a tool or a url')
  .meta({
    anyOf: [
      {
        required: ['tool'],
        properties: { tool: { type: 'object' }, url: { type: 'null' } },
      },
      {
        required: ['url'],
        properties: { url: { type: 'string' }, tool: { type: 'null' } },
      },
    ],
  })
  .nullable()
  .meta({ id: 'GateInput' });

export function presentGate(row: Gate | null) {
  return row === null ? null : presentFields(row);
}

export function presentPreviewedGate(gate: { asks: Gate; fault: string | undefined } | null) {
  return gate === null ? null : { ...presentFields(gate.asks), fault: gate.fault ?? null };
}

function presentFields(row: Gate) {
  const { tool: call, url, pointers, wakeOn, maxQuietHours } = row;
  return {
    tool: call === null ? null : { policyId: call.policyId, arguments: { ...call.arguments } },
    url,
    pointers: [...pointers],
    wakeOn,
    maxQuietHours,
  };
}
