import { createHash } from 'node:crypto';
import type { ToolTarget } from '#core/integrations/tools/index.ts';
import { canonicalJson, type JsonObject } from '#lib/json.ts';

/** The part of a held call that a person approves. */
export interface SeenCall {
  readonly toolName: string;
  readonly definitionHash: string;
  readonly connection: Pick<ToolTarget['connection'], 'id' | 'url' | 'accountLabel'>;
  readonly arguments: JsonObject;
}

/**
 * Returns the SHA-256, in hex, of what is approved, as canonical JSON (RFC 8785): tool, definition, connection with its
 * address and account, and arguments. A number that no double represents counts with all its digits.
 */
export function digestOf({
  toolName: tool,
  definitionHash: definition,
  connection,
  arguments: args,
}: SeenCall): string {
  const { id, url, accountLabel: account } = connection;
  const seen = canonicalJson({ tool, definition, connection: { id, url, account }, arguments: args });
  return createHash('sha256').update(seen).digest('hex');
}
