import { setTimeout as sleep } from 'node:timers/promises';
import { deleteBatch, sql, storableJson, type Db } from '#lib/database/index.ts';
import type { Log } from '#lib/log.ts';

/** Passes the texts of running model steps to the followers of their runs. */
export interface LiveTexts {
  open(step: LiveStep): LiveText;
  /** Stops passing texts, and resolves when the texts of ended steps are deleted. */
  close(): Promise<void>;
}

/** An attempt at a model step. */
export interface LiveStep {
  readonly runId: string;
  readonly projectId: string;
  readonly index: number;
  readonly attempt: number;
}

export interface LiveText {
  /** Takes the function that returns the text so far. A response that begins again replaces the function. */
  readonly onStream: (text: () => string) => void;
  readonly end: () => void;
}

/** Pause between two looks. Followers see a text within a second: after this pause, the write, and their own look. */
const EVERY_MS = 400;

/** Longest piece in characters. A follower that joins late reads a long text in several pieces. */
const LONGEST_PIECE = 32_000;

/** A running step, with the text already sent to its followers. */
interface Open {
  readonly step: LiveStep;
  read: (() => string) | undefined;
  sent: string;
  pieces: number;
}

interface Piece extends LiveStep {
  readonly piece: number;
  readonly begins: boolean;
  readonly text: string;
}

/**
 * Looks at running steps at intervals and writes their new text, for followed runs only. The text of other runs is not
 * even read. A step that is over before the first look costs no statement.
 */
export function createLiveTexts({ database, log }: { readonly database: Db; readonly log: Log }): LiveTexts {
  const open = new Set<Open>();
  const ended: LiveStep[] = [];
  let passing: Promise<void> | undefined;
  let hasFailed = false;
  const closing = new AbortController();

  async function keepPassing(): Promise<void> {
    while ((open.size > 0 && !closing.signal.aborted) || ended.length > 0) {
      await sleep(EVERY_MS);
      try {
        if (ended.length > 0) await deletePieces(database, ended.splice(0));
        await passOn([...open].filter(({ read }) => read !== undefined));
        hasFailed = false;
      } catch (err) {
        if (!hasFailed) log.warn({ err }, 'the texts of steps could not be passed on to followers');
        hasFailed = true;
      }
    }
    passing = undefined;
  }

  async function passOn(begun: readonly Open[]): Promise<void> {
    if (begun.length === 0) return;
    const followed = await findFollowed(
      database,
      begun.map(({ step }) => step.runId),
    );
    const told = begun
      .filter(({ step }) => followed.has(step.runId))
      .map((one) => ({ one, text: withoutHalf(one.read?.() ?? '') }))
      .filter(({ one, text }) => text !== one.sent);
    if (told.length === 0) return;
    await insertPieces(
      database,
      told.flatMap(({ one, text }) => nextPieces(one, text)),
    );
    for (const { one, text } of told) one.sent = text;
  }

  return {
    open(step) {
      const one: Open = { step, read: undefined, sent: '', pieces: 0 };
      open.add(one);
      passing ??= keepPassing();
      return {
        onStream(text) {
          one.read = text;
        },
        end() {
          open.delete(one);
          if (one.pieces > 0) ended.push(step);
        },
      };
    },
    async close() {
      closing.abort();
      await passing;
    },
  };
}

/**
 * Cuts the new part of a text into pieces. Each piece gets a new number even after a failed write, because that write
 * may have been committed.
 */
function nextPieces(one: Open, text: string): Piece[] {
  const goesOn = one.sent !== '' && text.startsWith(one.sent);
  let left = goesOn ? text.slice(one.sent.length) : text;
  let begins = !goesOn;
  const pieces: Piece[] = [];
  do {
    const piece = withoutHalf(left.slice(0, LONGEST_PIECE));
    one.pieces += 1;
    pieces.push({ ...one.step, piece: one.pieces, begins, text: piece });
    begins = false;
    left = left.slice(piece.length);
  } while (left !== '');
  return pieces;
}

/** Leaves out the first half of a character whose second half is missing. */
function withoutHalf(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}

async function findFollowed(db: Db, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await db.rows<{ runId: string }>`
    select distinct run_id as "runId" from run_followers where run_id = any(${runIds}) and leased_until > now()
  `;
  return new Set(found.map(({ runId }) => runId));
}

async function insertPieces(db: Db, pieces: readonly Piece[]): Promise<void> {
  await db.run`
    insert into live_texts (run_id, step, attempt, piece, project_id, begins, text)
    select p."runId", p.index, p.attempt, p.piece, p."projectId", p.begins, p.text
    from jsonb_to_recordset(${storableJson(pieces)}::jsonb) as p(
      "runId" text, index integer, attempt integer, piece integer, "projectId" text, begins boolean, text text)
  `;
}

async function deletePieces(db: Db, steps: readonly LiveStep[]): Promise<void> {
  await db.run`
    delete from live_texts t using jsonb_to_recordset(${JSON.stringify(steps)}::jsonb)
      as s("runId" text, "projectId" text, index integer, attempt integer)
    where t.run_id = s."runId" and t.project_id = s."projectId" and t.step = s.index and t.attempt = s.attempt
  `;
}

/** Deletes the texts of steps whose worker has died. */
export function forgetLiveTexts(db: Db, limit: number): Promise<number> {
  return deleteBatch(db, { table: 'live_texts', where: sql`written_at < now() - interval '1 day'`, limit });
}
