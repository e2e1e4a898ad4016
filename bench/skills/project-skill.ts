import { z } from 'zod';
import { stateBlocks } from '#core/skills/state-block.ts';
import type { EvaluatedSkill } from './prompt.ts';

const response = z.object({ data: z.object({ name: z.string(), instructions: z.string() }) });

/** Reads a skill of a project, or a curated one, through the API. */
export async function readProjectSkill(
  api: { url: string; key: string | undefined },
  id: string,
): Promise<EvaluatedSkill> {
  const address = `${api.url.replace(/\/$/, '')}/v1/skills/${encodeURIComponent(id)}`;
  const found = await fetch(address, { headers: { authorization: `Bearer ${api.key ?? ''}` } });
  const body = await found.text();
  if (!found.ok) throw new Error(`the API says ${found.status}: ${body.slice(0, 200)}`);
  const { name, instructions } = response.parse(JSON.parse(body)).data;
  // A skill of one's own names its state block as it likes.
  return { slug: stateBlocks(instructions)[0]?.slug ?? id, name, instructions };
}
