import type { Shape } from '#ui/api/types.ts';
import { count, money } from '#ui/format/numbers.ts';
import { starterOf } from '#ui/format/run-words.ts';
import { duration } from '#ui/format/times.ts';
import { tookMs } from './step-time.ts';

type RunDetail = Shape<'RunDetail'>;

export interface Difference {
  readonly label: string;
  readonly before: string;
  readonly now: string;
}

/** Share below which two amounts count as equal. */
const NOTABLE = 0.2;

/** Lists what differs between two runs of a routine: their inputs, and amounts that are far apart. */
export function differencesOf(run: RunDetail, good: RunDetail): readonly Difference[] {
  const found: Difference[] = [];
  const texts = (label: string, of: (each: RunDetail) => string) => {
    if (of(run) !== of(good)) found.push({ label, before: of(good), now: of(run) });
  };
  const amounts = (
    label: string,
    of: (each: RunDetail) => number | null,
    format: (value: number) => string,
    least = 0,
  ) => {
    const [before, now] = [of(good), of(run)];
    if (before === null || now === null || !isNotable(before, now, least)) return;
    found.push({ label, before: format(before), now: format(now) });
  };
  texts('Version', ({ routineRevision }) => String(routineRevision));
  texts('Model', ({ model }) => model?.modelId ?? 'none');
  texts('Variables', variablesOf);
  texts('Started by', starterOf);
  texts('Tools', toolsOf);
  const [prompt, goodPrompt] = [run.prompt, good.prompt];
  if (prompt !== null && goodPrompt !== null && prompt !== goodPrompt) {
    found.push({ label: 'Prompt', before: characters(goodPrompt), now: characters(prompt) });
  }
  amounts('Took', tookMs, duration, 1_000);
  amounts('Tokens', ({ usage }) => usage.totalTokens, count);
  amounts('Cost', ({ usage }) => (usage.costUsd === null ? null : Number(usage.costUsd)), money);
  return found;
}

function isNotable(before: number, now: number, least: number): boolean {
  return Math.abs(now - before) > Math.max(least, NOTABLE * Math.max(before, now));
}

function variablesOf({ variables }: RunDetail): string {
  const pairs = Object.entries(variables).toSorted(([a], [b]) => a.localeCompare(b));
  return pairs.length === 0 ? 'none' : pairs.map(([name, value]) => `${name}: ${value}`).join(', ');
}

/** Lists the called tools, each with its number of calls. */
function toolsOf({ steps }: RunDetail): string {
  const names = steps.flatMap(({ tool }) => (tool === null ? [] : [tool.toolName ?? tool.name]));
  const groups = Map.groupBy(names.toSorted(), (name) => name);
  const parts = [...groups].map(([name, { length }]) =>
    length === 1 ? name : `${name} ×${length}`,
  );
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function characters(text: string): string {
  return `${count(text.length)} characters`;
}
