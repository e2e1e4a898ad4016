import type { ModelMessage } from 'ai';
import { rows, sql, type Db } from '#lib/database/index.ts';

/** The messages of a run's recorded steps before `index`, in order: what the next model step continues from. */
export async function readTranscript(
  db: Db,
  runId: string,
  index: number,
): Promise<ModelMessage[]> {
  if (index === 0) return [];
  const steps = await rows<{ messages: ModelMessage[] | null }>(
    db,
    sql`select messages from steps where run_id = ${runId} and index < ${index} order by index`,
  );
  return steps.flatMap(({ messages }) => messages ?? []);
}
