import type { Db } from '#lib/database/index.ts';
import type { Fault } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { refused, unfitArguments } from './decide-call.ts';
import { isReadOnly } from './policy.ts';
import { SchemaBusyError, SchemaError, schemaRefusal } from './json-schema.ts';
import { findPolicy } from './queries.ts';

/** A call whose arguments a person has fixed beforehand. */
export interface FixedCall {
  readonly policyId: string;
  readonly arguments: JsonObject;
}

/**
 * Says what keeps a routine from making a fixed call of a tool that only reads, as far as the record tells; whether it
 * may really be made is decided when it is (`prepareCall`).
 * @throws {AppError} `rate_limited` while many other schemas of the project are being checked
 */
export async function fixedCallFault(
  db: Db,
  scope: { readonly projectId: string; readonly routineId: string },
  call: FixedCall,
): Promise<Fault | undefined> {
  const policy = await findPolicy(db, { ...scope, policyId: call.policyId });
  if (policy === undefined) {
    return { path: 'policyId', message: 'the routine has no such tool policy' };
  }
  if (policy.state !== 'automatic') {
    return { path: 'policyId', message: refused('not_automatic').why };
  }
  if (!isReadOnly(policy)) return { path: 'policyId', message: NOT_READ_ONLY };
  const unfit = await unfitArguments(policy, call.arguments).catch((error: unknown) => {
    if (error instanceof SchemaBusyError || !(error instanceof SchemaError)) {
      throw schemaRefusal(error, 'arguments');
    }
    return refused('arguments_uncheckable');
  });
  return unfit === undefined ? undefined : { path: 'arguments', message: unfit.why };
}

export const NOT_READ_ONLY = 'the server does not say that this tool only reads (readOnlyHint)';
