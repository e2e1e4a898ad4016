import { z } from 'zod';
import { JSON_POINTER } from '#lib/json-pointer.ts';

const MAX_SCHEMA_BYTES = 65_536;

const pointer = z.string().max(1_000).regex(JSON_POINTER, 'a JSON Pointer (RFC 6901)');

/** The fields of a routine that say what the result of its runs has to be. */
export const resultFields = {
  resultSchema: z
    .record(z.string(), z.unknown())
    .refine(
      (schema) => Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES,
      'more than 64 kB',
    )
    .nullable()
    .meta({
      description:
        "A JSON Schema (2020-12, or what its `$schema` says) of at most 64 kB: the last message of a run has to be JSON by it, which the run keeps as `data`. A model that sends something else is asked once more; then the run ends `failed`, `result_invalid`. A schema that cannot be compiled within the service's limits, or that nothing can satisfy, is refused.",
      example: {
        type: 'object',
        properties: {
          items: {
            type: 'array',
            items: {
              type: 'object',
              properties: { id: { type: 'string' }, price: { type: 'number' } },
              required: ['id', 'price'],
            },
          },
        },
        required: ['items'],
      },
    }),
  resultKey: z
    .strictObject({
      list: pointer.meta({ description: 'From the data to the list; empty where it is the list.' }),
      key: pointer.meta({
        description:
          'From an item to the text, number or boolean by which it is told apart; empty where that is the item itself.',
      }),
    })
    .nullable()
    .meta({
      id: 'ResultKey',
      description:
        'What identifies an item of a list in the data, as JSON Pointers (RFC 6901). With it the items of the list are compared, and neither their order nor what stands beside the list; without it the data as a whole. Data in which the list, or the key of an item, is missing or occurs twice is `result_invalid`.',
      example: { list: '/items', key: '/id' },
    }),
};
