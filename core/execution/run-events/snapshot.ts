import { setImmediate as turnOver } from 'node:timers/promises';
import type { Db } from '#lib/database/index.ts';
import { AppError } from '#lib/errors.ts';
import { runColumns, stepColumns, type Run, type RunDetail } from '#core/execution/runs/index.ts';
import { keyOf, type RunCursor } from './watches.ts';

/** Reads a run with its steps and texts after a position. @throws {AppError} `run_not_found` */
export type SnapshotReader = (request: SnapshotRequest) => Promise<RunSnapshot>;

/**
 * Number of snapshots in one read. Many small snapshots cost little more than one; many large ones would fill the
 * memory.
 */
const BATCH = 20;

/** Number of concurrent reads: more than one, so that a large read delays no others, and few, to spare the pool. */
const READS = 3;

interface Waiting extends PromiseWithResolvers<RunSnapshot> {
  readonly request: SnapshotRequest;
}

/**
 * Reads for all followers of a process. Followers that want the same snapshot share it. Followers that ask during a
 * read share the next read, which begins after they asked, so that it shows the change that woke them.
 */
export function createSnapshotReader(db: Db): SnapshotReader {
  const waiting = new Map<string, Waiting>();
  let reads = 0;

  async function readWaiting(): Promise<void> {
    // Wait for all requests of this turn of the event loop, so that they share the first read.
    await turnOver();
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, BATCH);
      for (const [key] of batch) waiting.delete(key);
      await readBatch(
        db,
        batch.map(([, one]) => one),
      );
    }
    reads -= 1;
  }

  return (request) => {
    const key = `${request.projectId} ${request.id} ${keyOf(request.from)}`;
    let one = waiting.get(key);
    if (one === undefined) {
      waiting.set(key, (one = { request, ...Promise.withResolvers<RunSnapshot>() }));
    }
    if (reads < READS) {
      reads += 1;
      void readWaiting();
    }
    return one.promise;
  };
}

/** Reads a batch and gives each caller its snapshot. If the read fails, all callers get the error. */
async function readBatch(db: Db, batch: readonly Waiting[]): Promise<void> {
  try {
    const found = await readSnapshots(
      db,
      batch.map(({ request }) => request),
    );
    for (const [n, { resolve, reject }] of batch.entries()) {
      const snapshot = found[n];
      if (snapshot === undefined) reject(new AppError('run_not_found'));
      else resolve(snapshot);
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

/** A run with the steps that its follower has not seen. */
export interface RunSnapshot {
  readonly run: Run;
  /** Steps in their order, at most `STEPS_AT_ONCE`. */
  readonly steps: RunDetail['steps'];
  /** Pieces of the text of the next step, if it is running; at most `PIECES_AT_ONCE`. */
  readonly pieces: readonly TextPiece[];
  /** True when the run may have further steps or pieces. */
  readonly more: boolean;
}

/** A piece of the text of a running model step. */
export interface TextPiece {
  /** Index of the step. */
  readonly index: number;
  readonly attempt: number;
  readonly piece: number;
  /** True if the text begins with this piece, in place of all earlier pieces. */
  readonly begins: boolean;
  readonly text: string;
}

export interface SnapshotRequest {
  readonly projectId: string;
  readonly id: string;
  readonly from: RunCursor;
}

/** The most steps that a slow follower keeps in memory, however many the run has. */
const STEPS_AT_ONCE = 10;
const PIECES_AT_ONCE = 4;

type Step = RunDetail['steps'][number];

/** A step as JSON writes it, with times as text. */
type StepJson = Omit<Step, 'startedAt' | 'finishedAt'> & Readonly<Record<'startedAt' | 'finishedAt', string | null>>;

/**
 * Reads snapshots in the order of the requests; undefined when a project has no such run. One statement reads a run and
 * all its steps in one state of the database, in one round trip.
 */
async function readSnapshots(db: Db, requests: readonly SnapshotRequest[]): Promise<(RunSnapshot | undefined)[]> {
  const found = await db.rows<Run & { n: number; stepsJson: readonly StepJson[]; pieces: readonly TextPiece[] }>`
    select n, ${runColumns}, (
        select coalesce(json_agg(step), '[]') from (
          select ${stepColumns} from steps
          where steps.run_id = of_run and steps.project_id = of_project and steps.index >= known
          order by steps.index limit ${STEPS_AT_ONCE}
        ) step
      ) as "stepsJson", (
        select coalesce(json_agg(said), '[]') from (
          select step as index, attempt, piece, begins, text from live_texts
          where live_texts.run_id = of_run and live_texts.project_id = of_project and live_texts.step = known
            and (live_texts.attempt, live_texts.piece) > (of_attempt, of_piece)
          order by live_texts.attempt, live_texts.piece limit ${PIECES_AT_ONCE}
        ) said
      ) as pieces
    from unnest(
      ${requests.map(({ projectId }) => projectId)}::text[], ${requests.map(({ id }) => id)}::text[],
      ${requests.map(({ from }) => from.steps)}::integer[],
      ${requests.map(({ from }) => from.text.attempt)}::integer[],
      ${requests.map(({ from }) => from.text.piece)}::integer[]
    ) with ordinality as wanted(of_project, of_run, known, of_attempt, of_piece, n)
    join runs on runs.id = of_run and runs.project_id = of_project
  `;
  const byRequest = new Map(found.map(({ n, ...read }) => [n, read]));
  return requests.map((_, at) => {
    const read = byRequest.get(at + 1);
    if (read === undefined) return undefined;
    const { stepsJson, pieces, ...run } = read;
    const steps = stepsJson.map((step): Step => ({
      ...step,
      startedAt: dateOf(step.startedAt),
      finishedAt: dateOf(step.finishedAt),
    }));
    return { run, steps, pieces, more: steps.length === STEPS_AT_ONCE || pieces.length === PIECES_AT_ONCE };
  });
}

function dateOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
