import type { ApiClient } from '#test/support/client.ts';
import { createRoutine, runOnce } from '#test/support/routines.ts';
import type { Service } from '#test/support/service.ts';
import { marker, type Json } from '#test/core/integrations/tools/support.ts';

/** Form of a result: a list of things with a price, by their ids. */
export const FORM = {
  resultSchema: {
    type: 'object',
    properties: {
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: { id: { type: 'string' }, price: { type: 'number' } },
          required: ['id', 'price'],
          additionalProperties: false,
        },
      },
      note: { type: 'string' },
    },
    required: ['items'],
  },
  resultKey: { list: '/items', key: '/id' },
};

/** Makes data of that form. */
export function prices(items: Readonly<Record<string, number>>, note?: string) {
  const list = Object.entries(items).map(([id, price]) => ({ id, price }));
  return { items: list, ...(note === undefined ? {} : { note }) };
}

export interface TypedRoutine {
  readonly id: string;
  readonly mark: string;
  /** Runs the routine while its model sends these messages one after the other, objects as JSON. */
  readonly run: (...messages: readonly (string | object)[]) => Promise<Json>;
}

interface Fields extends Record<string, unknown> {
  readonly instructions?: string;
}

/** Creates a routine with that form, and the given fields over it. */
export async function typedRoutine(
  service: Service,
  key: ApiClient,
  { instructions: text = 'List the prices.', ...fields }: Fields = {},
): Promise<TypedRoutine> {
  const mark = marker();
  const instructions = `${mark} ${text}`;
  const id = await createRoutine(key, { ...FORM, ...fields, instructions });
  return {
    id,
    mark,
    run: (...messages) => {
      for (const message of messages) {
        const text = typeof message === 'string' ? message : JSON.stringify(message);
        service.gateway.control.script({ marker: mark, behaviour: { kind: 'text', text } });
      }
      return runOnce(key, id);
    },
  };
}
