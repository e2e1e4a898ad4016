import { z } from 'zod';
import { idPattern } from '#lib/ids.ts';
import { JSON_POINTER } from '#lib/json.ts';
import type { Frozen } from './field.ts';

const MAX_ARGUMENTS_LENGTH = 16_000;

/** A gate: the value to check before a run, and the condition that wakes the model. One of `tool` and `url` is null. */
const gateShape = {
  tool: z
    .strictObject({
      policyId: z.string().regex(idPattern('policy')).meta({
        description: 'Id of the policy.',
        example: 'pol_01kx3k9y6wfd8r0v5m2c7t4q9h',
      }),
      arguments: z
        .record(z.string(), z.unknown())
        .refine(
          (value) => JSON.stringify(value).length <= MAX_ARGUMENTS_LENGTH,
          `more than ${MAX_ARGUMENTS_LENGTH} characters of JSON`,
        ),
    })
    .nullable()
    .describe('A confirmed tool of this routine that only reads by its annotations, and the arguments of the call.'),
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
      description: 'JSON Pointers to the parts of the response that are compared; none for the whole response.',
      example: ['/items'],
    }),
  wakeOn: z
    .enum(['changed', 'not_empty'])
    .describe(
      '`changed`: the value differs from that of the last successful run. `not_empty`: the value is not null, false, 0, blank, `[]` or `{}`.',
    ),
  maxQuietHours: z
    .number()
    .int()
    .min(1)
    .max(8_760)
    .nullable()
    .describe('After this time without waking its model, the next run wakes it in any case.'),
};

/** A gate in responses. */
export const gate = z.strictObject(gateShape).nullable().meta({
  id: 'Gate',
  description:
    'A value that a scheduled run checks before it wakes its model. Without news the run ends `skipped`, `no_change`. `{{gate.value}}` puts the value into the instructions.',
});

/** A gate in requests. */
export const gateInput = z
  .strictObject({
    tool: gateShape.tool.default(null),
    url: gateShape.url.default(null),
    pointers: gateShape.pointers.default([]),
    wakeOn: gateShape.wakeOn.default('changed'),
    maxQuietHours: gateShape.maxQuietHours.default(null),
  })
  .refine((value) => (value.tool === null) !== (value.url === null), 'either a tool or a url')
  .meta({
    anyOf: [
      { required: ['tool'], properties: { tool: { type: 'object' }, url: { type: 'null' } } },
      { required: ['url'], properties: { url: { type: 'string' }, tool: { type: 'null' } } },
    ],
  })
  .nullable()
  .meta({ id: 'GateInput' });

/** The source that a scheduled run checks before it wakes its model. */
export type Gate = Frozen<NonNullable<z.output<typeof gate>>>;
