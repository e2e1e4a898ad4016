import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const SLOWEST = 10;
/** File with the seconds of the slowest test files, by which `longest-first.ts` orders them. */
const KEPT = path.join(import.meta.dirname, 'durations.json');
const FEWEST_SECONDS = 10;

/**
 * Prints at the end of a run the time of each project and the slowest files, so that growth is noticed. `npm run
 * test:durations` stores the seconds of the files that ran.
 */
export default class Durations implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      file: path.relative(process.cwd(), module.moduleId),
      project: module.project.name,
      tests: [...module.children.allTests()].length,
      seconds: secondsOf(module),
    }));
    const projects = Object.entries(Object.groupBy(files, ({ project }) => project));
    console.log('\n Files, tests and seconds by project; pages and browser run three at a time, all others four:');
    for (const [project, group = []] of projects) {
      const tests = sum(group.map((file) => file.tests));
      const seconds = sum(group.map((file) => file.seconds));
      console.log(`  ${project.padEnd(8)} ${column(group.length, 4)} ${column(tests, 5)} ${column(seconds)}`);
    }
    console.log(' Slowest files, in seconds:');
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    for (const { file, seconds } of slowest) console.log(`  ${column(seconds)}  ${file}`);
    if (process.env['KEEP_DURATIONS'] === '1') keep(files);
  }
}

function keep(files: readonly { readonly file: string; readonly seconds: number }[]): void {
  const kept = new Map<string, number>(Object.entries(JSON.parse(readFileSync(KEPT, 'utf8'))));
  for (const { file, seconds } of files) kept.set(file, Math.round(seconds));
  const longest = [...kept].filter(([, seconds]) => seconds >= FEWEST_SECONDS).toSorted(([, a], [, b]) => b - a);
  writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(longest), null, 2)}\n`);
}

/** Includes the time before the first test: modules and hooks. */
function secondsOf(module: TestModule): number {
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return (setupDuration + collectDuration + duration) / 1_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function column(value: number, width = 6): string {
  return value.toFixed(Number.isInteger(value) ? 0 : 1).padStart(width);
}
