/** A column that holds sealed texts, and how the place that a text was sealed to follows from its row. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key. */
  readonly keys: readonly string[];
  /** `row` of the place. */
  readonly rowOf: (keys: readonly (string | Buffer)[]) => string;
  /** `column` of the place, where a text may have moved here from another column. Default: this column. */
  readonly sealedAs?: string;
}

/** Every column with sealed texts: a key may only be taken away when all of these have been sealed again. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'routines', column: 'webhook_secret', keys: ['id'], rowOf: only },
  {
    table: 'routines',
    column: 'webhook_secret_previous',
    keys: ['id'],
    rowOf: only,
    sealedAs: 'webhook_secret',
  },
  { table: 'connections', column: 'credentials', keys: ['id'], rowOf: only },
  { table: 'connections', column: 'url_query', keys: ['id'], rowOf: only },
  { table: 'model_connections', column: 'credential', keys: ['id'], rowOf: only },
  { table: 'model_sign_ins', column: 'sealed', keys: ['id'], rowOf: only },
  { table: 'model_revocations', column: 'sealed', keys: ['connection_id'], rowOf: only },
  { table: 'second_factors', column: 'secret', keys: ['user_id'], rowOf: only },
  { table: 'oauth_flows', column: 'sealed', keys: ['state_hash'], rowOf: hexadecimal },
  {
    table: 'idempotency_keys',
    column: 'answer',
    keys: ['scope', 'key'],
    rowOf: (keys) => JSON.stringify(keys),
  },
];

function only([key = '']: readonly (string | Buffer)[]): string {
  return key.toString();
}

function hexadecimal([key = '']: readonly (string | Buffer)[]): string {
  return Buffer.from(key).toString('hex');
}
