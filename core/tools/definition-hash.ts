import { createHash } from 'node:crypto';
import type { ToolDefinition } from '#core/mcp/index.ts';
import { canonicalJson } from '#lib/json.ts';

/** Hashes the whole definition: SHA-256 in hex, the same however the server orders its keys. */
export function definitionHash(definition: ToolDefinition): string {
  const { name, title, description, inputSchema, outputSchema, annotations } = definition;
  const whole = { name, title, description, inputSchema, outputSchema, annotations };
  return createHash('sha256').update(canonicalJson(whole)).digest('hex');
}
