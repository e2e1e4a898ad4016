import type { Connection } from '@temporalio/client';
import proto from '@temporalio/proto';

import type { Log } from '../child.ts';
import { SEARCH_ATTRIBUTES } from './settings.ts';

const { INDEXED_VALUE_TYPE_KEYWORD } = proto.temporal.api.enums.v1.IndexedValueType;

/** Registers what is missing; the server's own flag acts only when its database is created. */
export const ensureSearchAttributes = async (
  connection: Connection,
  log: Log,
  namespace = 'default',
): Promise<void> => {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  log(`Registering search attributes with Temporal: ${missing.join(', ')}`);
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map((name) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
  });
};
