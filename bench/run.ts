/**
 * Entry of `npm run bench`: `npm run bench -- [--long] [name …]` runs all benchmarks, or the named ones, prints one
 * table and keeps the figures in `bench/results/`.
 */
import path from 'node:path';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { stopOnSignals } from '#dev/stack/shutdown.ts';
import { type Bench, type Benchmark, type Benchmarks, verdictOf, type Figure, table } from './harness/benchmark.ts';
import { startService, type Service } from './harness/service.ts';
import { startStack } from './harness/stack.ts';

interface Outcome {
  readonly benchmark: string;
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
  readonly seconds: number;
  readonly error?: string;
}

const benchmarks = await findBenchmarks();
const available = [...benchmarks.keys()].toSorted();
const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !available.includes(name));
if (unknown.length > 0) {
  console.error(`No benchmark ${unknown.join(', ')}. There are: ${available.join(', ')}.`);
  process.exit(2);
}
const names = positionals.length > 0 ? positionals : available;

const stack = await startStack((message) => console.log(`  ${message}`));
stopOnSignals(() => stack.stop());
let shared: Promise<Service> | undefined;
const outcomes: Outcome[] = [];
try {
  for (const name of names) outcomes.push(await measure(name));
} finally {
  await shared?.then((service) => service.stop()).catch(() => undefined);
  await stack.stop();
}
report();

/** Finds the benchmarks of all files beside this one. */
async function findBenchmarks(): Promise<ReadonlyMap<string, Benchmark>> {
  const files = readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.ts') && file !== path.basename(import.meta.filename))
    .toSorted();
  const all = files.map(async (file) => {
    const { default: own } = (await import(`./${file}`)) as { default: Benchmarks };
    return Object.entries(own);
  });
  return new Map((await Promise.all(all)).flat());
}

async function measure(name: string): Promise<Outcome> {
  const benchmark = benchmarks.get(name)!;
  console.log(`\n${name}: ${benchmark.about}`);
  const started = performance.now();
  const notes: string[] = [];
  const bench: Bench = {
    stack,
    long: values.long,
    service: () => (shared ??= startService(stack)),
    note: (text) => notes.push(text),
  };
  try {
    const figures = await benchmark.run(bench);
    console.log(table([{ benchmark: name, figures }]));
    for (const note of notes) console.log(`\n${note}`);
    return { benchmark: name, figures, notes, seconds: secondsSince(started) };
  } catch (error) {
    console.error(error);
    // Give a benchmark that fails a line in the report, and run the others.
    return {
      benchmark: name,
      figures: [],
      notes,
      seconds: secondsSince(started),
      error: String(error),
    };
  }
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 100) / 10;
}

function report(): void {
  const at = new Date().toISOString();
  const machine = {
    cpu: cpus()[0]?.model,
    cores: availableParallelism(),
    architecture: arch(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    // Record the load: if it is above that of the benchmarks, another program used the machine.
    loadAverage: loadavg().map((load) => Number(load.toFixed(1))),
  };
  const folder = path.join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${at.replaceAll(':', '-')}.json`);
  const judged = outcomes.map((outcome) => ({
    ...outcome,
    figures: outcome.figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) })),
  }));
  writeFileSync(file, `${JSON.stringify({ at, machine, benchmarks: judged }, null, 2)}\n`);

  console.log(`\n${table(outcomes)}`);
  for (const { benchmark, error } of outcomes) {
    if (error !== undefined) console.log(`${benchmark} broke: ${error}`);
  }
  console.log(`\nWritten to ${path.relative(process.cwd(), file)}`);
  if (outcomes.some(({ error }) => error !== undefined)) process.exitCode = 1;
}
