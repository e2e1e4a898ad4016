import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import sql, { type RawValue } from 'sql-template-tag';
import { AppError, type ErrorCode } from '../errors.ts';
import { parseExact } from '../exact-json/parse.ts';

/** A pool or a connection of the driver, which sends the statements. */
interface Sender {
  query<Row extends pg.QueryResultRow>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>>;
}

/** The parts of a template. Values become parameters; a nested `sql` template becomes part of the statement. */
type Statement = [text: TemplateStringsArray, ...values: RawValue[]];

/** The error for a row that is missing. */
type Missing = [code: ErrorCode, message?: string];

/** A pool or a transaction, the first argument of every query. */
export interface Db extends Sender {
  /** Returns the first row, or undefined. */
  row<Row extends pg.QueryResultRow>(...statement: Statement): Promise<Row | undefined>;
  /** Returns the first row. Throws the error if there is none. */
  rowOr<Row extends pg.QueryResultRow>(...missing: Missing): (...statement: Statement) => Promise<Row>;
  /** Returns the first column of the first row. `Value` includes undefined where there may be no row. */
  value<Value>(...statement: Statement): Promise<Value>;
  /** Returns all rows. Each connection prepares a statement once, under the hash of its text. */
  rows<Row extends pg.QueryResultRow>(...statement: Statement): Promise<Row[]>;
  /**
   * Returns all rows of a statement that is planned for its own values. A prepared statement soon gets one plan for all
   * values: too slow if the best plan depends on the values, as for a window of time.
   */
  plannedRows<Row extends pg.QueryResultRow>(...statement: Statement): Promise<Row[]>;
  /** Runs a statement for its effect and returns the number of affected rows. */
  run(...statement: Statement): Promise<number>;
}

/** The pool itself. Only code that opens transactions needs it; queries take `Db`. */
export type Database = pg.Pool & Db;

// Read counts and sums as numbers, because none of them gets near 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// Postgres keeps every digit of a number in JSON, so parse it exactly.
pg.types.setTypeParser(pg.types.builtins.JSON, (text) => parseExact(text));
pg.types.setTypeParser(pg.types.builtins.JSONB, (text) => parseExact(text));

/**
 * Opens the pool. When no connection is free within five seconds, a query fails, and the API responds 503. With
 * `?pgbouncer=true` in the address, nothing is stored in a session, because a pooler in transaction mode changes
 * sessions between transactions: statements are not prepared, and the role's own time limits apply.
 */
export function openDatabase(options: {
  url: string;
  poolSize: number;
  applicationName: string;
  onError?: (error: Error) => void;
  /** Limits the time of one query, including its rows. Default 35 seconds. */
  queryTimeoutMs?: number;
}): Database {
  const isPooled = new URL(options.url).searchParams.get('pgbouncer') === 'true';
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // The server's own limit does not help when the server is silent, so this side has a limit too.
    query_timeout: options.queryTimeoutMs ?? 35_000,
    keepAlive: true,
    ...(isPooled
      ? { Client: UnnamedStatements }
      : { statement_timeout: 30_000, idle_in_transaction_session_timeout: 30_000 }),
  });
  // Without a listener, a server that closes an idle connection would end the process.
  pool.on('error', (error) => options.onError?.(error));
  // The pool does not listen during a transaction, so listen here too. The query gets the error anyway.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return withStatements(pool);
}

/** Gives a connection of the driver the statements of `Db`. */
export function withStatements<T extends Sender>(sender: T): T & Db {
  const rows = async <Row extends pg.QueryResultRow>(...statement: Statement) =>
    (await sender.query<Row>(prepared(...statement))).rows;
  return Object.assign(sender, {
    rows,
    row: async <Row extends pg.QueryResultRow>(...statement: Statement) => (await rows<Row>(...statement))[0],
    rowOr:
      <Row extends pg.QueryResultRow>(...missing: Missing) =>
      async (...statement: Statement) => {
        const [row] = await rows<Row>(...statement);
        if (row === undefined) throw new AppError(...missing);
        return row;
      },
    value: async <Value>(...statement: Statement) => {
      const [row] = await rows<Record<string, Value>>(...statement);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller's type says whether there is a row
      return Object.values(row ?? {})[0] as Value;
    },
    plannedRows: async <Row extends pg.QueryResultRow>(...statement: Statement) => {
      const { text, values } = sql(...statement);
      return (await sender.query<Row>({ text, values })).rows;
    },
    run: async (...statement: Statement) => (await sender.query(prepared(...statement))).rowCount ?? 0,
  });
}

/** A connection that removes the names of statements, so that no statement is prepared. */
class UnnamedStatements extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver's overloads have no common type
    const query = this.query.bind(this) as (first: unknown, ...rest: unknown[]) => never;
    this.query = (first: unknown, ...rest: unknown[]) =>
      query(
        typeof first === 'object' && first !== null && 'text' in first ? { ...first, name: undefined } : first,
        ...rest,
      );
  }
}

/** Reads the common clock of all processes. The time does not change during a transaction. */
export function databaseTime(db: Db): Promise<Date> {
  return db.value<Date>`select now()`;
}

/**
 * Runs `work` in one transaction on one connection, and rolls back when `work` throws. Queries inside use the given
 * transaction: a query on the pool would wait for a second connection while holding the first.
 */
export async function transaction<T>(database: Database, work: (tx: Db) => Promise<T>): Promise<T> {
  const client = withStatements(await database.connect());
  let broken: Error | undefined;
  const following: (() => void)[] = [];
  followUps.set(client, following);
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    for (const followUp of following) followUp();
    return result;
  } catch (error) {
    // A connection that is gone or silent needs no rollback: closing it rolls back.
    if (error instanceof Error && isUnavailable(error)) broken = error;
    else {
      await client.query('rollback').catch((fault: unknown) => {
        broken = fault instanceof Error ? fault : new Error('rollback failed');
      });
    }
    throw error;
  } finally {
    followUps.delete(client);
    client.release(broken);
  }
}

const followUps = new WeakMap<Db, (() => void)[]>();

/**
 * Calls `work` after the commit of the transaction and never after a rollback. Calls `work` at once when `db` is no
 * transaction. So a lower subject can trigger work that its callers do not know. `work` must not throw.
 */
export function afterCommit(db: Db, work: () => void): void {
  const following = followUps.get(db);
  if (following === undefined) work();
  else following.push(work);
}

/**
 * Tells whether the error means that Postgres cannot be reached or is shutting down, and not that the query is wrong.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return (
    UNAVAILABLE_CODES.has(code) ||
    code.startsWith('08') ||
    /timeout exceeded when trying to connect|Query read timeout|Connection terminated|is not queryable/.test(
      error.message,
    )
  );
}

/**
 * Tells whether the same work may succeed later: Postgres is away, fails over or is full, or another transaction has a
 * lock.
 */
export function isTransient(error: unknown): boolean {
  if (isUnavailable(error)) return true;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return TRANSIENT_CODES.has(code) || code.startsWith('53');
}

// Serialization failure, deadlock, lock not available, and a statement that was cancelled by its time limit.
const TRANSIENT_CODES: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014']);

// Admin shutdown, crash shutdown, cannot connect now, too many connections, a primary that has become a replica, and
// faults of the socket itself. A connection with any of these errors is closed.
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '25006',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
]);

const names = new Map<string, string>();

function prepared(...statement: Statement): pg.QueryConfig {
  const { text, values } = sql(...statement);
  let name = names.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url').slice(0, 20);
    // Only code makes the texts of statements, so there are few. The limit guards against a wrongly built query.
    if (names.size < 2_000) names.set(text, name);
  }
  return { name, text, values };
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Repeats `work` while Postgres is away or fails over, or another transaction holds a lock, until `signal` aborts. Only
 * for idempotent work: a commit may have succeeded although its response was lost.
 * @throws errors of `work` that no later attempt can avoid
 */
export async function persistently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
